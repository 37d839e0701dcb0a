/* SPDX-License-Identifier: MIT */
/* `ptcap decode --insn`: disassembled instructions, with function and source line. */
#include "cli/decode/line_buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/disasm.h"
#include "ptcap/lookup.h"

enum { IP_WIDTH = 16, PLACE_WIDTH = 28, TEXT_WIDTH = 40, LINE_ROOM = 8192 };

static size_t print_disasm(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	struct ptc_line *l = p->line;
	char text[PTC_DISASM_MAX];
	uint8_t i;

	ptc_disasm(PTC_MODE_64, it->insn, it->insn_len, ip, text);
	ptc_line_str(l, text);
	for (i = 0; i < it->insn_len && !strcmp(text, "(unknown)"); i++) {
		ptc_line_char(l, ' ');
		ptc_line_hex(l, it->insn[i] >> 4);
		ptc_line_hex(l, it->insn[i] & 15);
	}
	return l->n;
}

void ptc_print_disasm(struct ptc_printer *p, const struct ptc_item *it)
{
	(void)ptc_address_print_once(p, it, it->from, PTC_ADDRESS_DISASM, print_disasm);
}

static void put_file_line(struct ptc_line *l, const char *file, int line, bool whole)
{
	const char *base = file && !whole ? strrchr(file, '/') : NULL;

	if (!file) {
		ptc_line_char(l, '-');
		return;
	}
	ptc_print_name(l, base ? base + 1 : file);
	ptc_line_char(l, ':');
	ptc_line_dec(l, line);
}

/* Print the line of the innermost function, then of each call that was inlined. */
static bool put_inlined_lines(struct ptc_printer *p, const struct ptc_item *it, bool whole)
{
	struct ptc_inline_frame frames[PTC_INLINE_MAX];
	const size_t n = ptc_decode_inlines(p->d, it, it->from, frames);
	size_t i;

	for (i = 0; n > 1 && i < n; i++) {
		if (i)
			ptc_line_char(p->line, ',');
		put_file_line(p->line, frames[i].file, frames[i].line, whole);
	}
	return n > 1;
}

static void print_srcline(struct ptc_printer *p, const struct ptc_item *it, bool whole)
{
	const char *file;
	int line = 0;

	if (p->inlines && it->from && put_inlined_lines(p, it, whole))
		return;
	file = it->from ? ptc_decode_srcline(p->d, it, it->from, &line) : NULL;
	if (file)
		put_file_line(p->line, file, line, whole);
}

static size_t print_whole_line(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	(void)ip;
	print_srcline(p, it, true);
	return p->line->n;
}

bool ptc_print_srcline(struct ptc_printer *p, const struct ptc_item *it)
{
	const struct ptc_line *l = p->line;
	const size_t begin = l->n;
	const uint64_t flushes = l->flushes;

	(void)ptc_address_print_once(p, it, it->from, PTC_ADDRESS_LINE, print_whole_line);
	return l->n != begin || l->flushes != flushes;
}

/* Remember the last @len bytes, a source line. */
static void keep_srcline(struct ptc_printer *p, size_t len)
{
	p->srcline_len = len < sizeof(p->srcline) ? len : 0;
	memcpy(p->srcline, p->line->buf + p->line->n - len, p->srcline_len);
}

/* As ptc_print_symbol, in PLACE_WIDTH columns. */
static void print_short_symbol(struct ptc_printer *p, const struct ptc_item *it)
{
	uint64_t off = 0;
	const char *name = ptc_decode_symbol(p->d, it, it->from, &off);
	char offset[24];

	(void)snprintf(offset, sizeof(offset), "+0x%" PRIx64, off);
	if (!name) {
		ptc_line_char(p->line, '-');
		return;
	}
	ptc_print_short_name(p->line, name, PLACE_WIDTH - 1 - strlen(offset));
	ptc_line_str(p->line, offset);
}

/*
 * Print the address, the function and the instruction, and the source line, if it is known. Returns
 * the end of the instruction.
 */
static size_t print_insn_text(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	struct ptc_line *l = p->line;
	size_t begin = l->n, end;

	ptc_line_hex(l, ip);
	ptc_line_pad(l, begin, IP_WIDTH);
	begin = l->n;
	if (p->width)
		print_short_symbol(p, it);
	else
		(void)ptc_make_symbol(p, it, ip);
	ptc_line_pad(l, begin, PLACE_WIDTH);
	begin = l->n;
	(void)print_disasm(p, it, ip);
	end = l->n;
	ptc_line_pad(l, begin, TEXT_WIDTH);
	ptc_line_str(l, "# ");
	begin = l->n;
	print_srcline(p, it, false);
	if (l->n == begin)
		l->n = end;
	return end;
}

/* Returns the length of the source line behind the instruction, which ends at @end. */
static size_t len_of_srcline(const struct ptc_line *l, size_t end)
{
	const char *at = l->buf + end;

	while (at < l->buf + l->n && *at == ' ')
		at++;
	return (size_t)(l->buf + l->n - at);
}

/* Is the text that ends with the last source line, which contains no other blank? */
static bool ends_with_last_srcline(const struct ptc_printer *p, size_t end)
{
	const struct ptc_line *l = p->line;

	return p->srcline_len && l->n - end > p->srcline_len &&
	       l->buf[l->n - p->srcline_len - 1] == ' ' &&
	       !memcmp(l->buf + l->n - p->srcline_len, p->srcline, p->srcline_len);
}

/* Print the source line only when it changes. */
static void put_insn(struct ptc_printer *p, const struct ptc_item *it)
{
	struct ptc_line *l = p->line;
	size_t end;

	ptc_print_head(p, it, LINE_ROOM);
	end = ptc_address_print_once(p, it, it->from, PTC_ADDRESS_INSN, print_insn_text);
	if (l->n == end)
		p->srcline_len = 0;
	else if (ends_with_last_srcline(p, end))
		l->n = end;
	else
		keep_srcline(p, len_of_srcline(l, end));
}

void ptc_print_insn_after(struct ptc_printer *p, const struct ptc_item *it)
{
	struct ptc_line *l = p->line;
	size_t begin, end;

	p->srcline_len = 0;
	if (!it)
		return;
	(void)ptc_line_room(l, LINE_ROOM);
	begin = l->n;
	end = ptc_address_print_once(p, it, it->from, PTC_ADDRESS_INSN, print_insn_text);
	keep_srcline(p, len_of_srcline(l, end));
	l->n = begin;
}

void ptc_print_insn_before(struct ptc_printer *p, const struct ptc_item *items, size_t n)
{
	while (n && items[n - 1].type != PTC_ITEM_INSN)
		n--;
	if (!n)
		return;
	ptc_address_texts_begin(&p->texts);
	ptc_print_insn_after(p, &items[n - 1]);
}

int ptc_print_insn(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_printer *p = ctx;
	size_t i;

	ptc_address_texts_begin(&p->texts);
	for (i = 0; i < n; i++) {
		if (items[i].type == PTC_ITEM_GAP)
			ptc_print_gap(p->line, &items[i]);
		else if (items[i].type == PTC_ITEM_EVENT)
			ptc_print_event(p->line, &items[i]);
		else
			put_insn(p, &items[i]);
		ptc_line_char(p->line, '\n');
	}
	return p->line->failed;
}
