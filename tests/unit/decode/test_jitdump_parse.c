/* SPDX-License-Identifier: MIT */
/* Description: jitdump, record by record; truncated anywhere; with wrong numbers. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/sideband/jitdump_parse.h"
#include "lib_elf.h"
#include "lib_perfdata.h"

enum { HEAD_SIZE = 40 };

static const char code_a[] = "aaaa", code_b[] = "bb";
static char why[512]; /* message of the last walk that failed */

static void make(struct ptc_buf *b)
{
	le_jit(b, 7, 1);
	le_jit_load(b, 10, 0x1000, 1, "a", code_a, sizeof(code_a));
	le_jit_other(b, 2, 24);
	le_jit_other(b, 99, 8);
	le_jit_load(b, 20, 0x2000, 2, "", code_b, sizeof(code_b));
	le_jit_move(b, 30, 0x1000, 0x3000, 1, 100); /* more bytes than the code has */
	le_jit_move(b, 40, 0x1000, 0x4000, 77, 1);  /* an unknown index */
	le_jit_load(b, 50, 0x1000, 1, "new", code_b, sizeof(code_b));
	le_jit_move(b, 60, 0x1000, 0x5000, 1, 2);
}

/* Reads everything, in an allocation of the exact size. Returns the result of the last call. */
static int walk(const struct ptc_buf *b, size_t len, struct ptc_buf *text)
{
	uint8_t *bytes = pd_exact(b->bytes, len);
	struct ptc_jit_head head;
	struct ptc_jit_iter it;
	struct ptc_jit_code j;
	struct ptc_err err;
	char line[64];
	int r, n = 0;

	ptc_buf_reset(text);
	r = ptc_jit_begin(&it, bytes, len, &head, &err);
	while (!r || r > 0) {
		r = ptc_jit_next(&it, &j, &err);
		if (r <= 0)
			break;
		cr_assert_lt(++n, 100);
		cr_assert(j.code.pos >= bytes && j.code.end <= bytes + len);
		snprintf(line, sizeof(line), "%d %x %.8s %zu\n", (int)j.time, (int)j.addr, j.name,
			 ptc_cur_left(&j.code));
		ptc_buf_put(text, line, strlen(line));
	}
	if (r < 0)
		(void)snprintf(why, sizeof(why), "%s", err.msg);
	ptc_buf_u8(text, 0);
	ptc_jit_end(&it);
	free(bytes);
	return r;
}

Test(jitdump_parse, loads_and_moves_in_order)
{
	struct ptc_buf b = PTC_BUF_INIT, text = PTC_BUF_INIT;

	make(&b);
	cr_assert_eq(walk(&b, b.len, &text), 0);
	cr_assert_str_eq((char *)text.bytes, "10 1000 a 5\n20 2000  3\n30 3000 a 5\n50 1000 new 3\n"
					     "60 5000 new 2\n");
	/* Data behind the end of the dump is ignored. */
	le_jit_other(&b, 3, 0);
	ptc_buf_put(&b, "rest", 4);
	cr_assert_eq(walk(&b, b.len, &text), 0);
	ptc_buf_release(&text);
	ptc_buf_release(&b);
}

Test(jitdump_parse, cut_anywhere_what_is_whole_in_front_is_read)
{
	struct ptc_buf b = PTC_BUF_INIT, text = PTC_BUF_INIT, whole = PTC_BUF_INIT;
	size_t len;
	int r;

	make(&b);
	cr_assert_eq(walk(&b, b.len, &whole), 0);
	for (len = 0; len < b.len; len++) {
		r = walk(&b, len, &text);
		cr_assert(r == 0 || r == PTC_E_FORMAT);
		/* A truncated dump is not damaged: its writer may still be writing. */
		cr_assert(r == 0 || strstr(why, len < HEAD_SIZE ? "ends within its header" :
								  "ends within a record"),
			  "%zu: %s", len, why);
		cr_assert_eq(strncmp((char *)text.bytes, (char *)whole.bytes, text.len - 1), 0);
	}
	ptc_buf_release(&whole);
	ptc_buf_release(&text);
	ptc_buf_release(&b);
}

Test(jitdump_parse, numbers_that_lie_do_no_harm)
{
	static const uint64_t lies[] = { 0, 1, 15, 16, UINT32_MAX, INT64_MAX, UINT64_MAX };
	struct ptc_buf b = PTC_BUF_INIT, text = PTC_BUF_INIT;
	uint8_t saved[8];
	size_t off, i;

	make(&b);
	for (off = 0; off + 8 <= b.len; off += 2) {
		memcpy(saved, b.bytes + off, 8);
		for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			memcpy(b.bytes + off, &lies[i], 8);
			(void)walk(&b, b.len, &text);
		}
		memcpy(b.bytes + off, saved, 8);
	}
	ptc_buf_release(&text);
	ptc_buf_release(&b);
}

Test(jitdump_parse, other_versions_and_machines_are_refused)
{
	struct ptc_buf b = PTC_BUF_INIT, text = PTC_BUF_INIT;

	make(&b);
	b.bytes[4] = 2;
	cr_assert_eq(walk(&b, b.len, &text), PTC_E_UNSUPPORTED);
	b.bytes[4] = 1;
	b.bytes[12] = 3;
	cr_assert_eq(walk(&b, b.len, &text), PTC_E_UNSUPPORTED);
	b.bytes[12] = 62;
	b.bytes[32] = 2;
	cr_assert_eq(walk(&b, b.len, &text), PTC_E_UNSUPPORTED);
	b.bytes[0] = 'E';
	cr_assert_eq(walk(&b, b.len, &text), PTC_E_FORMAT);
	ptc_buf_release(&text);
	ptc_buf_release(&b);
}

Test(jitdump_parse, its_name_says_that_it_is_one)
{
	uint32_t pid;

	cr_assert(ptc_jit_path("/tmp/.debug/jit/x/jit-4711.dump", &pid));
	cr_assert_eq(pid, 4711);
	cr_assert(!ptc_jit_path("jit-1.dump", &pid));
	cr_assert(!ptc_jit_path("/jit-.dump", &pid));
	cr_assert(!ptc_jit_path("/jit-1.dumps", &pid));
	cr_assert(!ptc_jit_path("/jit-99999999999999999999.dump", &pid));
	cr_assert(!ptc_jit_path("/ajit-1.dump", &pid));
}
