/* SPDX-License-Identifier: MIT */
#include "cli/decode/line_buffer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/hex.h"
#include "cli/common/short_name.h"

#define KIND_COLOR  "\033[36m"
#define GAP_COLOR   "\033[31m"
#define EVENT_COLOR "\033[33m"
#define NO_COLOR    "\033[m"

/* Columns of the default format. */
enum { KIND_WIDTH = 8, FROM_WIDTH = 52, SHORT_NAME_MIN = 16 };

/* Escape terminal control characters. Blanks too, because they separate fields. */
void ptc_print_name(struct ptc_line *l, const char *s)
{
	for (; *s; s++)
		ptc_line_char(l, *s > ' ' && *s < 0x7f ? *s : '_');
}

void ptc_print_label(struct ptc_line *l, const char *s)
{
	for (; *s; s++)
		ptc_line_char(l, *s >= ' ' && *s < 0x7f ? *s : '?');
}

void ptc_print_short_name(struct ptc_line *l, const char *name, size_t width)
{
	char *text = ptc_short_name(name, width);

	ptc_print_label(l, text ? text : name);
	free(text);
}

size_t ptc_make_symbol(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	uint64_t off = 0;
	const char *name = ip ? ptc_decode_symbol(p->d, it, ip, &off) : NULL;

	if (!name) {
		ptc_line_char(p->line, '-');
		return p->line->n;
	}
	ptc_print_name(p->line, name);
	ptc_line_str(p->line, "+0x");
	ptc_line_hex(p->line, off);
	return p->line->n;
}

void ptc_print_symbol(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	(void)ptc_address_print_once(p, it, ip, PTC_ADDRESS_SYMBOL, ptc_make_symbol);
}

static void put_insn_hex(struct ptc_line *l, const struct ptc_item *it)
{
	int i;

	if (!it->insn_len)
		ptc_line_char(l, '-');
	for (i = 0; i < it->insn_len; i++) {
		ptc_line_char(l, "0123456789abcdef"[it->insn[i] >> 4]);
		ptc_line_char(l, "0123456789abcdef"[it->insn[i] & 15]);
	}
}

static void put_field(struct ptc_printer *p, const struct ptc_item *it, enum ptc_field field,
		      uint64_t icount)
{
	struct ptc_line *l = p->line;

	switch (field) {
	case PTC_FIELD_PID:
		ptc_line_dec(l, it->pid);
		break;
	case PTC_FIELD_TID:
		ptc_line_dec(l, it->tid);
		break;
	case PTC_FIELD_CPU:
		ptc_line_dec(l, it->cpu);
		break;
	case PTC_FIELD_TIME:
		ptc_line_time(l, it->time);
		break;
	case PTC_FIELD_ICOUNT:
		ptc_line_dec(l, (int64_t)icount);
		break;
	case PTC_FIELD_FROM:
	case PTC_FIELD_INSN_IP:
		ptc_line_hex(l, it->from);
		break;
	case PTC_FIELD_TO:
		ptc_line_hex(l, it->to);
		break;
	case PTC_FIELD_KIND:
		ptc_line_str(l, ptc_kind_name((enum ptc_kind)it->kind));
		break;
	case PTC_FIELD_SYM:
		ptc_print_symbol(p, it, it->from);
		break;
	case PTC_FIELD_TOSYM:
		ptc_print_symbol(p, it, it->to);
		break;
	case PTC_FIELD_INSN:
		put_insn_hex(l, it);
		break;
	case PTC_FIELD_DISASM:
		ptc_print_disasm(p, it);
		break;
	case PTC_FIELD_SRCLINE:
		if (!ptc_print_srcline(p, it))
			ptc_line_char(l, '-');
		break;
	case PTC_FIELD_COUNT:
		break;
	}
}

void ptc_print_gap(struct ptc_line *l, const struct ptc_item *it)
{
	ptc_line_str(l, "# gap queue=");
	ptc_line_dec(l, it->queue);
	ptc_line_str(l, " tid=");
	ptc_line_dec(l, it->tid);
	ptc_line_str(l, " offset=0x");
	ptc_line_hex(l, it->from);
	ptc_line_str(l, " length=0x");
	ptc_line_hex(l, it->to);
	ptc_line_str(l, " cause=");
	ptc_line_str(l, ptc_gap_name((enum ptc_gap_cause)it->cause));
}

void ptc_print_event(struct ptc_line *l, const struct ptc_item *it)
{
	ptc_line_str(l, "# event queue=");
	ptc_line_dec(l, it->queue);
	ptc_line_str(l, " tid=");
	ptc_line_dec(l, it->tid);
	ptc_line_str(l, " time=");
	ptc_line_time(l, it->time);
	ptc_line_str(l, " ip=0x");
	ptc_line_hex(l, it->from);
	ptc_line_str(l, " value=0x");
	ptc_line_hex(l, it->to);
	ptc_line_str(l, " event=");
	ptc_line_str(l, ptc_event_name((enum ptc_event_kind)it->kind));
}

/*
 * Print function and offset in @width columns of a terminal, with the address in front if a useful
 * part of the name still fits.
 */
static void put_short_place(struct ptc_line *l, uint64_t ip, const char *name, uint64_t off,
			    size_t width)
{
	char address[PTC_HEX_ROOM + 2], offset[PTC_HEX_ROOM + 4] = "";
	size_t left;

	(void)snprintf(address, sizeof(address), "%" PRIx64 " ", ip);
	if (off)
		(void)snprintf(offset, sizeof(offset), "+0x%" PRIx64, off);
	left = width > strlen(offset) ? width - strlen(offset) : 1;
	if (left >= strlen(address) + SHORT_NAME_MIN) {
		ptc_line_str(l, address);
		left -= strlen(address);
	}
	ptc_print_short_name(l, name, left);
	ptc_line_str(l, offset);
}

/*
 * Print the address, and function and offset; otherwise file and offset, in parentheses. @width: 0:
 * no limit.
 */
static void put_place(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip, size_t width)
{
	struct ptc_line *l = p->line;
	const char *name, *base, *close = "";
	uint64_t off = 0;

	name = ptc_decode_symbol(p->d, it, ip, &off);
	if (name && width) {
		put_short_place(l, ip, name, off, width);
		return;
	}
	ptc_line_hex(l, ip);
	if (name) {
		ptc_line_char(l, ' ');
	} else {
		name = ptc_decode_file(p->d, it, ip, &off);
		if (!name)
			return;
		base = strrchr(name, '/');
		name = base ? base + 1 : name;
		ptc_line_str(l, " (");
		close = ")";
	}
	ptc_print_label(l, name);
	if (off) {
		ptc_line_str(l, "+0x");
		ptc_line_hex(l, off);
	}
	ptc_line_str(l, close);
}

/* Returns the columns of each end of a branch on a terminal of @width columns; 0: no limit. */
static size_t place_width(size_t width)
{
	enum { TAKEN = PTC_TIME_WIDTH + PTC_TID_WIDTH + KIND_WIDTH + 4 }; /* " -> " */

	if (!width)
		return 0;
	width = width > TAKEN + 2 * SHORT_NAME_MIN ? (width - TAKEN) / 2 : SHORT_NAME_MIN;
	return width < FROM_WIDTH - 1 ? width : FROM_WIDTH - 1;
}

static void print_from(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	const size_t place = place_width(p->width), begin = p->line->n;

	put_place(p, it, ip, place);
	ptc_line_pad(p->line, begin, place ? place + 1 : FROM_WIDTH);
}

static void print_to(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	ptc_line_str(p->line, "-> ");
	put_place(p, it, ip, place_width(p->width));
}

static size_t print_branch(struct ptc_printer *p, const struct ptc_item *it, uint64_t ip)
{
	const size_t place = place_width(p->width);
	struct ptc_line *l = p->line;
	size_t begin;

	if (p->color)
		ptc_line_str(l, KIND_COLOR);
	begin = l->n;
	ptc_line_str(l, ptc_kind_name((enum ptc_kind)it->kind));
	ptc_line_pad(l, begin, KIND_WIDTH);
	if (p->color)
		ptc_line_str(l, NO_COLOR);
	if (ptc_item_has_from(it))
		print_from(p, it, ip);
	else
		ptc_line_pad(l, l->n, place ? place + 1 : FROM_WIDTH);
	if (ptc_item_has_to(it))
		print_to(p, it, it->to);
	else
		ptc_line_str(l, "->");
	return l->n;
}

static void put_for_people(struct ptc_printer *p, const struct ptc_item *it)
{
	ptc_print_head(p, it, 1024);
	(void)ptc_address_print_once(p, it, it->from, PTC_ADDRESS_BRANCH, print_branch);
}

static void put_fields(struct ptc_printer *p, const struct ptc_item *it)
{
	const uint64_t icount = ptc_printer_count(p, it);
	size_t k;

	for (k = 0; k < p->fields.n; k++) {
		if (k)
			ptc_line_char(p->line, ' ');
		put_field(p, it, p->fields.field[k], icount);
	}
}

/* Return whether the fields are -F from,to, the usual choice for large outputs. */
static bool is_ends(const struct ptc_fields *f)
{
	return f->n == 2 && f->field[0] == PTC_FIELD_FROM && f->field[1] == PTC_FIELD_TO;
}

static void put_ends(struct ptc_line *l, const struct ptc_item *it)
{
	char *at = ptc_line_room(l, 2 * PTC_HEX_ROOM + 1);

	at = ptc_put_hex(at, it->from);
	*at++ = ' ';
	l->n = (size_t)(ptc_put_hex(at, it->to) - l->buf);
}

/* Print a gap or an event. */
static void put_remark(struct ptc_printer *p, const struct ptc_item *it)
{
	const bool gap = it->type == PTC_ITEM_GAP;

	if (p->color)
		ptc_line_str(p->line, gap ? GAP_COLOR : EVENT_COLOR);
	if (gap)
		ptc_print_gap(p->line, it);
	else
		ptc_print_event(p->line, it);
	if (p->color)
		ptc_line_str(p->line, NO_COLOR);
}

int ptc_print_text(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_printer *p = ctx;
	const bool ends = is_ends(&p->fields);
	const struct ptc_item *it;

	ptc_address_texts_begin(&p->texts);
	for (it = items; it < items + n; it++) {
		if (it->type == PTC_ITEM_GAP || it->type == PTC_ITEM_EVENT) {
			(void)ptc_printer_count(p, it);
			put_remark(p, it);
		} else if (ends)
			put_ends(p->line, it);
		else if (p->fields.n)
			put_fields(p, it);
		else
			put_for_people(p, it);
		ptc_line_char(p->line, '\n');
	}
	return p->line->failed;
}
