/* SPDX-License-Identifier: MIT */
/* `ptcap decode --insn`: disassembled instructions, with function and source line. */
#include "cli/decode/line_buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/disasm.h"
#include "ptcap/lookup.h"

enum { TIME_WIDTH = 18, TID_WIDTH = 8, IP_WIDTH = 16, PLACE_WIDTH = 28, TEXT_WIDTH = 40 };

static void pad_insn_column(struct ptc_line *l, size_t begin, size_t width)
{
	do
		ptc_line_char(l, ' ');
	while (l->n - begin < width);
}

void ptc_print_disasm(struct ptc_line *l, const struct ptc_item *it)
{
	char text[PTC_DISASM_MAX];
	uint8_t i;

	ptc_disasm(PTC_MODE_64, it->insn, it->insn_len, it->from, text);
	ptc_line_str(l, text);
	for (i = 0; i < it->insn_len && !strcmp(text, "(unknown)"); i++) {
		ptc_line_char(l, ' ');
		ptc_line_hex(l, it->insn[i] >> 4);
		ptc_line_hex(l, it->insn[i] & 15);
	}
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

bool ptc_print_srcline(struct ptc_printer *p, const struct ptc_item *it, bool whole)
{
	const char *file;
	int line = 0;

	if (p->inlines && it->from && put_inlined_lines(p, it, whole))
		return true;
	file = it->from ? ptc_decode_srcline(p->d, it, it->from, &line) : NULL;
	if (!file)
		return false;
	put_file_line(p->line, file, line, whole);
	return true;
}

/* Print the source line only when it changes. */
static void put_new_srcline(struct ptc_printer *p, const struct ptc_item *it, size_t begin)
{
	struct ptc_line *l = p->line;
	size_t at, len;

	pad_insn_column(l, begin, TEXT_WIDTH);
	at = l->n;
	ptc_line_str(l, "# ");
	if (ptc_print_srcline(p, it, false)) {
		len = l->n - at;
		if (len >= sizeof(p->srcline) || len != p->srcline_len ||
		    memcmp(p->srcline, l->buf + at, len) != 0) {
			p->srcline_len = len < sizeof(p->srcline) ? len : 0;
			memcpy(p->srcline, l->buf + at, p->srcline_len);
			return;
		}
	} else {
		p->srcline_len = 0;
	}
	while (at > begin && l->buf[at - 1] == ' ')
		at--;
	l->n = at; /* remove the blanks and the repeated line */
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

static void put_insn(struct ptc_printer *p, const struct ptc_item *it)
{
	struct ptc_line *l = p->line;
	size_t begin;

	/* Columns are computed inside the buffer, so it must not be flushed within a line. */
	if (sizeof(l->buf) - l->n < 8192)
		ptc_line_flush(l);
	begin = l->n;
	ptc_print_axis(p, it->time, ptc_printer_count(p, it));
	pad_insn_column(l, begin, TIME_WIDTH);
	begin = l->n;
	ptc_line_dec(l, it->tid);
	pad_insn_column(l, begin, TID_WIDTH);
	begin = l->n;
	ptc_line_hex(l, it->from);
	pad_insn_column(l, begin, IP_WIDTH);
	begin = l->n;
	if (p->width)
		print_short_symbol(p, it);
	else
		ptc_print_symbol(p, it, it->from);
	pad_insn_column(l, begin, PLACE_WIDTH);
	begin = l->n;
	ptc_print_disasm(l, it);
	put_new_srcline(p, it, begin);
}

int ptc_print_insn(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_printer *p = ctx;
	size_t i;

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
