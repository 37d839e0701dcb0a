/* SPDX-License-Identifier: MIT */
/*
 * One line at the entry of a function and one at its end. A function without calls gets a single
 * line. So the entry line is held back until the next event.
 */
#include "cli/decode/call_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/calls/call_how.h"

enum {
	TIME_WIDTH = 18,
	TID_WIDTH = 8,
	SPAN_WIDTH = 12,
	TREE_COLUMN = TIME_WIDTH + TID_WIDTH + SPAN_WIDTH + 5,
	INDENT = 2,
	INDENT_MAX = 200,
	NAME_MIN = 8
};

/* Print the duration of a call, or of all calls that @end stands for. Nothing, if it is not known.
 */
static void put_span(const struct ptc_call_lines *p, const struct ptc_shown_call *end)
{
	const uint64_t a = p->by_insns ? end->since_insns : end->since;
	const uint64_t b = p->by_insns ? end->insns : end->time;
	uint64_t took = p->by_insns ? end->total_insns : end->total_time;
	char text[32];

	if (a == PTC_NO_TIME || b == PTC_NO_TIME || b < a)
		return;
	if (end->times == 1)
		took = b - a;
	if (p->by_insns) {
		ptc_line_dec(p->line, (int64_t)took);
		ptc_line_str(p->line, " insn");
		return;
	}
	(void)snprintf(text, sizeof(text), "%.3f us", (double)took / 1e3);
	ptc_line_str(p->line, text);
}

/* Returns the indent of a line. On a terminal of @width columns, half of the tree is for names. */
static size_t indent_of(size_t width, uint32_t depth)
{
	const size_t tree = width > TREE_COLUMN ? (width - TREE_COLUMN) / 2 : 0;
	const size_t most = width && tree < INDENT_MAX ? tree : INDENT_MAX;

	return (size_t)depth * INDENT < most ? (size_t)depth * INDENT : most;
}

/* Returns the columns for the name of the held line and the text behind it. */
static size_t name_room(const struct ptc_call_lines *p)
{
	const size_t taken = TREE_COLUMN + indent_of(p->width, p->held.indent) + strlen("() {");

	if (!p->width)
		return SIZE_MAX;
	return p->width > taken + NAME_MIN ? p->width - taken : NAME_MIN;
}

/* Returns the comment @text if it fits @room beside a name, else "". Takes its columns. */
static const char *fitting(const char *text, size_t *room)
{
	if (*room < strlen(text) + NAME_MIN)
		return "";
	*room -= strlen(text);
	return text;
}

/*
 * Print the place, thread, duration and indent of @at. @end: an end with a duration, or NULL.
 * Columns are computed inside the buffer.
 */
static void begin_line(const struct ptc_call_lines *p, const struct ptc_shown_call *at,
		       const struct ptc_shown_call *end)
{
	const size_t indent = indent_of(p->width, at->indent);
	struct ptc_line *l = p->line;
	size_t begin;

	if (sizeof(l->buf) - l->n < 2048)
		ptc_line_flush(l);
	begin = l->n;
	if (p->by_insns)
		ptc_line_dec(l, (int64_t)at->insns);
	else
		ptc_line_time(l, at->time);
	ptc_line_pad(l, begin, TIME_WIDTH + 1);
	begin = l->n;
	ptc_line_dec(l, at->tid);
	ptc_line_pad(l, begin, TID_WIDTH + 1);
	begin = l->n;
	if (end)
		put_span(p, end);
	ptc_line_pad(l, begin, SPAN_WIDTH + 1);
	ptc_line_str(l, "| ");
	if (indent)
		ptc_line_pad(l, l->n, indent);
}

static const char *entered(enum ptc_call_how how)
{
	switch (how) {
	case PTC_CALL_BY_TRACE:
		return " /* running */";
	case PTC_CALL_BY_RETURN:
		return " /* returned to */";
	case PTC_CALL_BY_TAIL:
		return " /* jumped to */";
	case PTC_CALL_BY_SIGNAL:
		return " /* signal handler */";
	case PTC_CALL_BY_INLINING:
		return " /* inlined */";
	default:
		return "";
	}
}

static const char *left(enum ptc_call_how how)
{
	switch (how) {
	case PTC_CALL_BY_TAIL:
		return " /* jumps on */";
	case PTC_CALL_BY_UNWINDING:
		return " /* unwound */";
	case PTC_CALL_BY_SIGNAL:
		return " /* sigreturn */";
	default:
		return "";
	}
}

/* A name of C++ includes parameters, unless it is of an inlined function: "f<int (*)()>". */
static bool has_parameters(const char *name)
{
	return strchr(name, '(') && name[strlen(name) - 1] != '>';
}

/* Print the held line: as the start of a body, or (@end) as a single line. */
static void flush_held(struct ptc_call_lines *p, const struct ptc_shown_call *end)
{
	const struct ptc_shown_call *c = &p->held;
	struct ptc_line *l = p->line;
	size_t room = name_room(p);
	const char *in, *out, *times;
	char count[40] = "";

	if (!p->pending)
		return;
	p->pending = false;
	if (c->times > 1)
		(void)snprintf(count, sizeof(count), " /* %" PRIu64 " times */", c->times);
	times = fitting(count, &room);
	in = fitting(entered(c->how), &room);
	out = fitting(end ? left(end->how) : "", &room);
	begin_line(p, c, end);
	if (p->width)
		ptc_print_short_name(l, c->name, room);
	else
		ptc_line_str(l, c->name);
	if (!has_parameters(c->name))
		ptc_line_str(l, "()");
	ptc_line_str(l, end ? ";" : " {");
	ptc_line_str(l, times);
	ptc_line_str(l, in);
	ptc_line_str(l, out);
	ptc_line_char(l, '\n');
}

static void print_text(struct ptc_call_lines *p, const struct ptc_shown_call *c)
{
	struct ptc_line *l = p->line;

	if (c->type == PTC_CALL_LEAVE && p->pending && p->held.tid == c->tid &&
	    p->held.depth == c->depth) {
		flush_held(p, c);
		return;
	}
	flush_held(p, NULL);
	switch (c->type) {
	case PTC_CALL_ENTER:
		p->pending = true;
		p->held = *c;
		break;
	case PTC_CALL_LEAVE:
		begin_line(p, c, c);
		ptc_line_char(l, '}');
		ptc_line_str(l, left(c->how));
		ptc_line_char(l, '\n');
		break;
	case PTC_CALL_LOST:
		ptc_print_gap(l, c->gap);
		ptc_line_char(l, '\n');
		break;
	}
}

static void put_name(struct ptc_line *l, const char *name)
{
	ptc_line_str(l, ",\"name\":\"");
	for (; *name; name++) { /* printable ASCII, by out_calls */
		if (*name == '"' || *name == '\\')
			ptc_line_char(l, '\\');
		ptc_line_char(l, *name);
	}
	ptc_line_char(l, '"');
}

static void put_time(struct ptc_line *l, const char *key, uint64_t ns)
{
	ptc_line_str(l, key);
	if (ns == PTC_NO_TIME)
		ptc_line_str(l, "null");
	else
		ptc_line_dec(l, (int64_t)ns);
}

static void print_json(struct ptc_line *l, const struct ptc_shown_call *c)
{
	if (c->type == PTC_CALL_LOST) {
		ptc_print_json_gap(l, c->gap);
		return;
	}
	ptc_line_str(l, c->type == PTC_CALL_ENTER ? "{\"type\":\"enter\",\"tid\":" :
						    "{\"type\":\"leave\",\"tid\":");
	ptc_line_dec(l, c->tid);
	ptc_line_str(l, ",\"depth\":");
	ptc_line_dec(l, c->depth);
	put_time(l, ",\"time\":", c->time);
	if (c->type == PTC_CALL_LEAVE)
		put_time(l, ",\"since\":", c->since);
	put_time(l, ",\"icount\":", c->insns);
	if (c->type == PTC_CALL_LEAVE)
		put_time(l, ",\"since_icount\":", c->since_insns);
	ptc_line_str(l, ",\"how\":\"");
	ptc_line_str(l, ptc_call_how_name(c->how));
	ptc_line_str(l, "\",\"ip\":\"0x");
	ptc_line_hex(l, c->ip);
	ptc_line_char(l, '"');
	if (c->type == PTC_CALL_ENTER)
		put_name(l, c->name);
	if (c->times > 1)
		put_time(l, ",\"times\":", c->times);
	if (c->times > 1 && c->type == PTC_CALL_LEAVE) {
		put_time(l, ",\"total\":", c->since == PTC_NO_TIME ? PTC_NO_TIME : c->total_time);
		put_time(l, ",\"total_icount\":",
			 c->since_insns == PTC_NO_TIME ? PTC_NO_TIME : c->total_insns);
	}
	ptc_line_str(l, "}\n");
}

int ptc_print_call_line(void *ctx, const struct ptc_shown_call *call)
{
	struct ptc_call_lines *p = ctx;

	if (p->json)
		print_json(p->line, call);
	else
		print_text(p, call);
	return p->line->failed;
}

void ptc_call_lines_finish(struct ptc_call_lines *p)
{
	flush_held(p, NULL);
}
