/* SPDX-License-Identifier: MIT */
#include "cli/decode/address_text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/decode/line_buffer.h"
#include "ptcap/memory.h"

static struct ptc_line line;
static struct ptc_printer printer;
static struct ptc_item item;
static size_t made; /* calls of a print function */

/* All code has the number @number. Known in advance: no decoder is needed. */
static void number_code(uint64_t number)
{
	printer.texts.code = (struct ptc_code_parts){
		.state = number,
		.pid = 12,
		.known = true,
		.state_of_parts = number,
		.parts = { { 0, UINT64_MAX, number } },
	};
}

static void begin(void)
{
	line.n = 0;
	printer = (struct ptc_printer){ .line = &line };
	number_code(7);
	item = (struct ptc_item){ .type = PTC_ITEM_BRANCH, .kind = PTC_KIND_CALL, .pid = 12 };
	made = 0;
}

TestSuite(address_text, .init = begin);

static void end(void)
{
	ptc_address_texts_release(&printer.texts);
}

/* Prints "N:IP", where N is the number of this call. */
static size_t print_made(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	size_t second;

	(void)it;
	ptc_line_dec(p->line, (int64_t)++made);
	ptc_line_char(p->line, ':');
	second = p->line->n;
	ptc_line_hex(p->line, ip);
	return second;
}

/* Returns the text of @ip, valid until the next call. */
static const char *text(uint64_t ip, enum ptc_address_column column)
{
	static char ret[64];
	size_t at = line.n, second;

	second = ptc_address_print_once(&printer, &item, ip, column, print_made);
	cr_assert_eq(line.buf[second - 1], ':');
	(void)snprintf(ret, sizeof(ret), "%.*s", (int)(line.n - at), line.buf + at);
	return ret;
}

Test(address_text, is_made_once)
{
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_INSN), "1:a0");
	cr_assert_str_eq(text(0xb0, PTC_ADDRESS_INSN), "2:b0");
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_INSN), "1:a0");
	cr_assert_str_eq(text(0xb0, PTC_ADDRESS_INSN), "2:b0");
	cr_assert_str_eq(text(0xb0, PTC_ADDRESS_INSN), "2:b0");
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_INSN), "1:a0");
	cr_assert_eq(made, 2);
	end();
}

Test(address_text, depends_on_column_and_code)
{
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_SYMBOL), "1:a0");
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_LINE), "2:a0");
	number_code(8);
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_SYMBOL), "3:a0");
	number_code(7);
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_SYMBOL), "1:a0");
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_LINE), "2:a0");
	end();
}

Test(address_text, depends_on_the_instruction)
{
	enum { LAST = sizeof(item.insn) - 1 };

	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_DISASM), "1:a0");
	item.insn_len = 1;
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_DISASM), "2:a0");
	item.insn[0] = 0x90;
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_DISASM), "3:a0");
	item.insn_len = LAST + 1;
	item.insn[LAST] = 0x90;
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_DISASM), "4:a0");
	item.insn[LAST] = 0x91;
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_DISASM), "5:a0");
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_INSN), "6:a0");
	item.insn[LAST] = 0x90;
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_DISASM), "4:a0");
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_INSN), "7:a0");
	end();
}

Test(address_text, depends_on_the_branch)
{
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_BRANCH), "1:a0");
	item.to = 0xb0;
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_BRANCH), "2:a0");
	item.kind = PTC_KIND_JMP;
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_BRANCH), "3:a0");
	item.to = 0;
	item.kind = PTC_KIND_CALL;
	item.flags = PTC_ITEM_TO_ZERO;
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_BRANCH), "4:a0");
	item.flags = 0;
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_BRANCH), "1:a0");
	end();
}

static size_t print_nothing(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	(void)it;
	(void)ip;
	made++;
	return p->line->n;
}

Test(address_text, may_be_empty)
{
	size_t i;

	for (i = 0; i < 3; i++)
		cr_assert_eq(ptc_address_print_once(&printer, &item, 0xa0, PTC_ADDRESS_LINE,
						    print_nothing),
			     0);
	cr_assert_eq(line.n, 0);
	cr_assert_eq(made, 1);
	end();
}

/* Prints a text of 5000 bytes, which is too long to be kept. */
static size_t print_long(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	size_t i;

	(void)it;
	made++;
	for (i = 0; i < 5000; i++)
		ptc_line_char(p->line, (char)ip);
	return p->line->n;
}

Test(address_text, too_long_is_made_again)
{
	size_t i;

	for (i = 0; i < 3; i++)
		(void)ptc_address_print_once(&printer, &item, 'x', PTC_ADDRESS_LINE, print_long);
	cr_assert_eq(made, 3);
	cr_assert_eq(line.n, 15000);
	cr_assert_eq(line.buf[14999], 'x');
	end();
}

/* Prints @ip in 400 bytes. */
static size_t print_padded(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	const size_t at = p->line->n;

	(void)it;
	made++;
	ptc_line_hex(p->line, ip);
	ptc_line_pad(p->line, at, 400);
	return p->line->n;
}

/* More texts than there is memory for: all are right, and those of a small loop are kept again. */
Test(address_text, memory_is_limited)
{
	enum { TEXTS = 200000 };
	char want[17];
	uint64_t ip;

	for (ip = 1; ip <= TEXTS; ip++) {
		line.n = 0;
		(void)ptc_address_print_once(&printer, &item, ip, PTC_ADDRESS_LINE, print_padded);
		cr_assert_eq(line.n, 400);
		(void)snprintf(want, sizeof(want), "%llx ", (unsigned long long)ip);
		cr_assert_eq(strncmp(line.buf, want, strlen(want)), 0);
	}
	made = 0;
	for (ip = 1; ip <= 2000; ip++) {
		line.n = 0;
		(void)ptc_address_print_once(&printer, &item, 1 + ip % 10, PTC_ADDRESS_LINE,
					     print_padded);
		(void)snprintf(want, sizeof(want), "%llx ", (unsigned long long)(1 + ip % 10));
		cr_assert_eq(strncmp(line.buf, want, strlen(want)), 0);
	}
	cr_assert_eq(made, 10);
	end();
}

/* Without memory each text is made again, and is right. Later there may be memory. */
Test(address_text, budget_is_limited)
{
	char want[32];
	size_t i;

	ptc_memory_set_limit(1);
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_INSN), "1:a0");
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_INSN), "2:a0");
	ptc_memory_set_limit(0);
	for (i = 0; i < 5000; i++, line.n = 0)
		(void)text(0xa0, PTC_ADDRESS_INSN);
	(void)snprintf(want, sizeof(want), "%zu:a0", made);
	cr_assert_str_eq(text(0xa0, PTC_ADDRESS_INSN), want);
	cr_assert_lt(made, 5000);
	end();
}

/* Addresses with one hash: the text of the oldest is made again, and no search takes long. */
Test(address_text, one_hash)
{
	/* The upper half of the product with the hash's odd factor does not change. */
	const uint64_t step = (uint64_t)1 << 48;
	uint64_t i;

	for (i = 0; i < 20000; i++, line.n = 0)
		(void)text(0xa0 + i % 5000 * step, PTC_ADDRESS_INSN);
	cr_assert_gt(made, 5000);
	end();
}

/* A text that is flushed in the middle is printed once, and is not kept in part. */
Test(address_text, flushed_in_the_middle)
{
	static const char want[] = "--1:abcdef2:abcdef2:abcdef";
	const int fd = memfd_create("out", MFD_CLOEXEC);
	char got[sizeof(want)] = "";

	cr_assert_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	memset(line.buf, '-', sizeof(line.buf));
	line.n = sizeof(line.buf) - 2;
	(void)text(0xabcdef, PTC_ADDRESS_SYMBOL);
	(void)text(0xabcdef, PTC_ADDRESS_SYMBOL);
	(void)text(0xabcdef, PTC_ADDRESS_SYMBOL);
	ptc_line_flush(&line);
	(void)fflush(stdout);
	cr_assert_eq(pread(fd, got, sizeof(got), (off_t)sizeof(line.buf) - 4),
		     (ssize_t)sizeof(want) - 1);
	cr_assert_str_eq(got, want);
	cr_assert_eq(made, 2);
	(void)close(fd);
	end();
}
