/* SPDX-License-Identifier: MIT */
/*
 * `ptcap decode --calls`: one line at the entry of a function and one at its end. A function
 * without calls gets a single line. So the entry line is held back until the next event.
 */
#include "cli/decode/out_calls.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/short_name.h"
#include "decode/session/item_lookup.h"

enum {
	TIME_WIDTH = 18,
	TID_WIDTH = 8,
	SPAN_WIDTH = 12,
	TREE_COLUMN = TIME_WIDTH + TID_WIDTH + SPAN_WIDTH + 5,
	INDENT = 2,
	INDENT_MAX = 200,
	NAME_MIN = 8,
	NAME_MAX_WIDTH = 400
};

static uint64_t function(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	const struct ptc_calls_printer *p = ctx;
	uint64_t off = 0;

	return ip && ptc_decode_symbol(p->d, item, ip, &off) ? ip - off : 0;
}

static const char *name(void *ctx, const struct ptc_item *item, uint64_t ip)
{
	const struct ptc_calls_printer *p = ctx;
	uint64_t off;

	return ptc_decode_symbol(p->d, item, ip, &off);
}

static uint64_t life(void *ctx, const struct ptc_item *item)
{
	const struct ptc_calls_printer *p = ctx;

	return ptc_decode_life(p->d, item);
}

static void pad_calls_column(struct ptc_line *l, size_t begin, size_t width)
{
	while (l->n - begin < width)
		ptc_line_char(l, ' ');
	ptc_line_char(l, ' ');
}

/* The place of a call on both axes. Both members may be PTC_NO_TIME. */
struct moment {
	uint64_t time, insns;
};

static const struct moment unknown = { PTC_NO_TIME, PTC_NO_TIME };

static struct moment moment_of(const struct ptc_call *call)
{
	return (struct moment){ call->item->time, call->insns };
}

/* Print the duration from @since to @until. Prints nothing if it is not known. */
static void put_span(const struct ptc_calls_printer *p, struct moment since, struct moment until)
{
	const uint64_t a = p->by_insns ? since.insns : since.time;
	const uint64_t b = p->by_insns ? until.insns : until.time;
	char text[32];

	if (a == PTC_NO_TIME || b == PTC_NO_TIME || b < a)
		return;
	if (p->by_insns)
		(void)snprintf(text, sizeof(text), "%" PRIu64 " insn", b - a);
	else
		(void)snprintf(text, sizeof(text), "%.3f us", (double)(b - a) / 1e3);
	ptc_line_str(p->line, text);
}

/* Returns the indent of a line. On a terminal of @width columns, half of the tree is for names. */
static size_t indent_of(size_t width, uint32_t depth)
{
	const size_t tree = width > TREE_COLUMN ? (width - TREE_COLUMN) / 2 : 0;
	const size_t most = width && tree < INDENT_MAX ? tree : INDENT_MAX;

	return (size_t)depth * INDENT < most ? (size_t)depth * INDENT : most;
}

/* Returns the columns for the name of the pending line and the text behind it. */
static size_t name_room(const struct ptc_calls_printer *p)
{
	const size_t taken = TREE_COLUMN + indent_of(p->width, p->depth) + strlen("() {");

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

/* Print the place, thread, duration and indent. Columns are computed inside the buffer. */
static void begin_line(const struct ptc_calls_printer *p, struct moment at, int32_t tid,
		       struct moment since, struct moment until, uint32_t depth)
{
	const size_t indent = indent_of(p->width, depth);
	struct ptc_line *l = p->line;
	size_t begin, i;

	if (sizeof(l->buf) - l->n < 2048)
		ptc_line_flush(l);
	begin = l->n;
	if (p->by_insns)
		ptc_line_dec(l, (int64_t)at.insns);
	else
		ptc_line_time(l, at.time);
	pad_calls_column(l, begin, TIME_WIDTH);
	begin = l->n;
	ptc_line_dec(l, tid);
	pad_calls_column(l, begin, TID_WIDTH);
	begin = l->n;
	put_span(p, since, until);
	pad_calls_column(l, begin, SPAN_WIDTH);
	ptc_line_str(l, "| ");
	for (i = 0; i < indent; i++)
		ptc_line_char(l, ' ');
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

/* Print the pending line: as the start of a body, or (@end) as a single line. */
static void flush_pending(struct ptc_calls_printer *p, const struct ptc_call *end)
{
	const struct moment at = { p->time, p->insns };
	struct ptc_line *l = p->line;
	size_t room = name_room(p);
	const char *in, *out;

	if (!p->pending)
		return;
	p->pending = false;
	in = fitting(entered(p->how), &room);
	out = fitting(end ? left(end->how) : "", &room);
	begin_line(p, at, p->tid, end ? at : unknown, end ? moment_of(end) : unknown, p->depth);
	if (p->width)
		ptc_print_short_name(l, p->name, room);
	else
		ptc_line_str(l, p->name);
	if (!has_parameters(p->name))
		ptc_line_str(l, "()");
	ptc_line_str(l, end ? ";" : " {");
	ptc_line_str(l, in);
	ptc_line_str(l, out);
	ptc_line_char(l, '\n');
}

/* Returns the name of the function, or "??". *@ret_off: the offset in it. */
static const char *function_name(struct ptc_calls_printer *p, const struct ptc_call *call,
				 uint64_t *ret_off)
{
	if (call->how != PTC_CALL_BY_INLINING)
		return ptc_decode_symbol(p->d, call->item, call->ip, ret_off);
	return call->name ? call->name : "??";
}

/* Set the name: function and offset, or file and offset, or the address. */
static void set_name(struct ptc_calls_printer *p, const struct ptc_call *call)
{
	uint64_t off = 0;
	const char *name = function_name(p, call, &off), *base;
	/* On a terminal a name is shortened, not cut off in the middle of its arguments. */
	char *shorter = name && p->width ? ptc_short_name(name, NAME_MAX_WIDTH) : NULL;
	size_t n = 0;

	name = shorter ? shorter : name;
	if (!name) {
		name = ptc_decode_file(p->d, call->item, call->ip, &off);
		base = name ? strrchr(name, '/') : NULL;
		name = base ? base + 1 : name;
	}
	if (!name) {
		(void)snprintf(p->name, sizeof(p->name), "0x%llx", (unsigned long long)call->ip);
		return;
	}
	for (; name[n] && n + 32 < sizeof(p->name); n++) /* escape terminal control characters */
		p->name[n] = (char)(name[n] >= ' ' && name[n] < 0x7f ? name[n] : '?');
	p->name[n] = '\0';
	if (off)
		(void)snprintf(p->name + n, sizeof(p->name) - n, "+0x%llx",
			       (unsigned long long)off);
	free(shorter);
}

static int print_call(struct ptc_calls_printer *p, const struct ptc_call *call)
{
	struct ptc_line *l = p->line;
	const struct ptc_item *it = call->item;

	if (call->type == PTC_CALL_LEAVE && p->pending && p->tid == it->tid &&
	    p->depth == call->depth) {
		flush_pending(p, call);
		return l->failed;
	}
	flush_pending(p, NULL);
	switch (call->type) {
	case PTC_CALL_ENTER:
		p->pending = true;
		/* For a call that began before the trace: first seen. */
		p->time = it->time;
		p->insns = call->insns;
		p->tid = it->tid;
		p->depth = call->depth;
		p->how = call->how;
		set_name(p, call);
		break;
	case PTC_CALL_LEAVE:
		begin_line(p, moment_of(call), it->tid,
			   (struct moment){ call->since, call->since_insns }, moment_of(call),
			   call->depth);
		ptc_line_char(l, '}');
		ptc_line_str(l, left(call->how));
		ptc_line_char(l, '\n');
		break;
	case PTC_CALL_LOST:
		ptc_print_gap(l, it);
		ptc_line_char(l, '\n');
		break;
	}
	return l->failed;
}

static const char *const hows[] = {
	[PTC_CALL_BY_CALL] = "call",	    [PTC_CALL_BY_TRACE] = "trace",
	[PTC_CALL_BY_RETURN] = "return",    [PTC_CALL_BY_TAIL] = "tail",
	[PTC_CALL_BY_SIGNAL] = "signal",    [PTC_CALL_BY_UNWINDING] = "unwinding",
	[PTC_CALL_BY_INLINING] = "inlined", [PTC_CALL_BY_GAP] = "gap",
	[PTC_CALL_BY_END] = "end",
};

static void put_name(struct ptc_line *l, const char *name)
{
	ptc_line_str(l, ",\"name\":\"");
	for (; *name; name++) { /* printable ASCII, by set_name */
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

static int print_call_json(struct ptc_calls_printer *p, const struct ptc_call *call)
{
	struct ptc_line *l = p->line;

	if (call->type == PTC_CALL_LOST) {
		ptc_print_json_gap(l, call->item);
		return l->failed;
	}
	ptc_line_str(l, call->type == PTC_CALL_ENTER ? "{\"type\":\"enter\",\"tid\":" :
						       "{\"type\":\"leave\",\"tid\":");
	ptc_line_dec(l, call->item->tid);
	ptc_line_str(l, ",\"depth\":");
	ptc_line_dec(l, call->depth);
	put_time(l, ",\"time\":", call->item->time);
	if (call->type == PTC_CALL_LEAVE)
		put_time(l, ",\"since\":", call->since);
	put_time(l, ",\"icount\":", call->insns);
	if (call->type == PTC_CALL_LEAVE)
		put_time(l, ",\"since_icount\":", call->since_insns);
	ptc_line_str(l, ",\"how\":\"");
	ptc_line_str(l, hows[call->how]);
	ptc_line_str(l, "\",\"ip\":\"0x");
	ptc_line_hex(l, call->ip);
	ptc_line_char(l, '"');
	if (call->type == PTC_CALL_ENTER) {
		set_name(p, call);
		put_name(l, p->name);
	}
	ptc_line_str(l, "}\n");
	return l->failed;
}

static int on_call(void *ctx, const struct ptc_call *call)
{
	struct ptc_calls_printer *p = ctx;

	return p->json ? print_call_json(p, call) : print_call(p, call);
}

static int on_real_call(void *ctx, const struct ptc_call *call)
{
	struct ptc_calls_printer *p = ctx;

	return p->inlines ? ptc_inline_calls_add(p->inlines, call) : on_call(p, call);
}

static size_t inlines(void *ctx, const struct ptc_item *item, uint64_t ip,
		      struct ptc_inline_frame frames[PTC_INLINE_MAX])
{
	const struct ptc_calls_printer *p = ctx;

	return ptc_decode_inlines(p->d, item, ip, frames);
}

int ptc_calls_printer_init(struct ptc_calls_printer *p, struct ptc_decode *d, struct ptc_line *line,
			   bool json, bool shows_inlines)
{
	const struct ptc_calls_opts opts = {
		.function = function, .on_call = on_real_call, .ctx = p, .life = life, .name = name
	};
	const struct ptc_inline_calls_opts more = { inlines, on_call, p };

	*p = (struct ptc_calls_printer){ .d = d, .line = line, .json = json };
	p->calls = ptc_calls_new(&opts);
	p->inlines = shows_inlines ? ptc_inline_calls_new(&more) : NULL;
	if (p->calls && !p->inlines == !shows_inlines)
		return 0;
	ptc_calls_printer_finish(p);
	return PTC_E_NO_MEMORY;
}

void ptc_calls_printer_finish(struct ptc_calls_printer *p)
{
	flush_pending(p, NULL);
	ptc_calls_free(p->calls);
	ptc_inline_calls_free(p->inlines);
	p->calls = NULL;
	p->inlines = NULL;
}

int ptc_print_calls(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_calls_printer *p = ctx;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < n; i++)
		rc = ptc_calls_item(p->calls, &items[i]);
	return rc;
}
