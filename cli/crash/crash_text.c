/* SPDX-License-Identifier: MIT */
/* Text output of `ptcap crash show`. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/disasm.h"
#include "base/plural.h"
#include "cli/common/text_escape.h"
#include "cli/crash/crash_out.h"

enum { FRAMES = 12, AROUND = 2, CALLS = 24, COLUMN_MIN = 24, COLUMN_MAX = 60, INDENT_MAX = 24 };
enum { INLINED_NAME_MAX = 160 }; /* characters; the place must fit behind the name */

static const char *base_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* --- locations --- */

/* Format "write_null+0x4 prog.c:32", or "libc.so.6+0x1234", or "0x666000". */
static void format_place(const struct ptc_crash_place *p, char *ret, size_t size)
{
	int n;

	if (p->function)
		n = snprintf(ret, size, "%s+0x%" PRIx64, p->function, p->offset);
	else if (p->file)
		n = snprintf(ret, size, "%s+0x%" PRIx64, base_of(p->file), p->file_offset);
	else
		n = snprintf(ret, size, "0x%" PRIx64 " (not in a file)", p->ip);
	if (p->source && n > 0 && (size_t)n < size)
		(void)snprintf(ret + n, size - (size_t)n, "  %s:%d", base_of(p->source), p->line);
}

static void show_place(const struct ptc_crash_report *r, uint64_t ip)
{
	struct ptc_crash_place place;
	char text[256];

	ptc_crash_place(r, ip, &place);
	format_place(&place, text, sizeof(text));
	ptc_show_plain(text);
}

static void show_insn(const uint8_t *bytes, size_t len, uint64_t ip)
{
	char text[PTC_DISASM_MAX];

	ptc_disasm(PTC_MODE_64, bytes, len, ip, text);
	printf("%s", text);
}

static void head(const char *title, bool color)
{
	printf("\n%s%s%s\n", color ? "\033[1m" : "", title, color ? "\033[m" : "");
}

/* --- the fault --- */

static void show_registers(const struct ptc_crash_report *r)
{
	const uint64_t *regs = r->victim->state.regs;
	size_t i;

	for (i = 0; i < PTC_REG_COUNT; i++)
		if (r->ops.regs >> i & 1)
			printf("  %s=0x%" PRIx64, ptc_crash_reg_name(i), regs[i]);
}

/* Show a frame's place after its title. */
static void show_frame_place(const struct ptc_crash_report *r, const char *title,
			     const struct ptc_crash_frame *f)
{
	struct ptc_crash_place place;
	char text[256];

	ptc_crash_place_frame(r, f, &place);
	format_place(&place, text, sizeof(text));
	printf("  %-7s 0x%" PRIx64 " ", title, place.ip);
	ptc_show_plain(text);
}

/* Show where the signal came. If the thread sent it with abort(), that is abort()'s caller. */
static void show_at(const struct ptc_crash_report *r)
{
	const struct ptc_crash_frame innermost = { .pc = r->ip, .exact = true };
	const struct ptc_crash_frame *at =
		r->gave_up >= 0 ? &ptc_crash_believed(r)->frames[r->gave_up] : &innermost;

	show_frame_place(r, "at", at);
	if (r->has_thrown && r->thrown.pc != at->pc) {
		putchar('\n');
		show_frame_place(r, "thrown", &r->thrown);
	}
}

/* Show a text in one line. Control characters in it are escaped. */
static void show_message(const struct ptc_runtime_message *m)
{
	printf("  says    ");
	ptc_show_plain(m->type);
	printf("%s", m->type[0] && m->text[0] ? ": " : "");
	ptc_show_plain(m->text);
	printf("%s", m->cut ? "..." : "");
	if (m->file[0]) {
		printf(" (");
		ptc_show_plain(m->file);
		printf(":%" PRIu32 ":%" PRIu32 ")", m->line, m->column);
	}
	putchar('\n');
}

static void show_messages(const struct ptc_crash_report *r)
{
	size_t i;

	for (i = 0; i < r->nmessages; i++)
		show_message(&r->messages[i]);
}

static void show_fault(const struct ptc_crash_report *r, bool color)
{
	const uint64_t ip = r->ip;
	char text[PTC_CRASH_SENTENCE], name[16];

	ptc_crash_signal_name(r->dead.signal.signo, name);
	ptc_crash_sentence(r, text);
	printf("%s%s%s: ", color ? "\033[1;31m" : "", name, color ? "\033[m" : "");
	ptc_show_plain(text);
	putchar('\n');
	show_messages(r);
	printf("  in      thread %" PRIu64 " (", r->dead.signal.tid);
	ptc_show_plain(r->victim->name);
	printf(") of process %" PRIu64 "\n", r->dead.signal.pid);
	show_at(r);
	if (r->insn_len && r->gave_up < 0) {
		printf("\n          ");
		show_insn(r->insn, r->insn_len, ip);
		show_registers(r);
	}
	putchar('\n');
	if (r->culprit) {
		printf("  from    0x%" PRIx64 " ", r->culprit->from);
		show_place(r, r->culprit->from);
		printf("\n          ");
		show_insn(r->culprit->insn, r->culprit->insn_len, r->culprit->from);
		putchar('\n');
	}
	if (r->of_core)
		printf("  state   from the core dump\n");
	else if (r->has_core && r->core_odd)
		printf("  core    differs: %zu thread%s at another place; written at another "
		       "time\n",
		       r->core_odd, ptc_plural(r->core_odd));
	else if (r->has_core)
		printf("  core    agrees\n");
	if (r->dead.cut)
		printf("  cut     %" PRIu64 " bytes of stacks and code exceeded the limit\n",
		       r->dead.cut);
	if (!r->flow.nbranches)
		printf("  the recording has no trace of this thread\n");
	else if (r->trace_is_short)
		printf("  the trace ends before the crash; the branches below are older\n");
}

/* --- the stacks --- */

/* Returns the number of functions in frame @i: those inlined, and the real one. */
static size_t count_functions(const struct ptc_crash_report *r, const struct ptc_crash_stack *s,
			      size_t i)
{
	struct ptc_crash_place place;

	if (i >= s->n)
		return 0;
	ptc_crash_place_frame(r, &s->frames[i], &place);
	return place.nfunctions;
}

/* Format frame @i without its inlined functions, or the function inlined @level calls deep. */
static void format_frame(const struct ptc_crash_report *r, const struct ptc_crash_stack *s,
			 size_t i, size_t level, char *ret, size_t size)
{
	const struct ptc_inline_frame *f;
	struct ptc_crash_place place;

	ret[0] = '\0';
	if (i >= s->n)
		return;
	ptc_crash_place_frame(r, &s->frames[i], &place);
	if (level >= place.nfunctions)
		return;
	f = &place.functions[place.nfunctions - 1 - level];
	place.source = f->file;
	place.line = f->line;
	if (!level)
		format_place(&place, ret, size);
	else if (f->file)
		(void)snprintf(ret, size, "%.*s  %s:%d (inlined)", INLINED_NAME_MAX,
			       f->function ? f->function : "?", base_of(f->file), f->line);
	else
		(void)snprintf(ret, size, "%.*s (inlined)", INLINED_NAME_MAX,
			       f->function ? f->function : "?");
}

static const char *note_of(const struct ptc_crash_stack *s, size_t i)
{
	if (i >= s->n)
		return "";
	switch (s->frames[i].how) {
	case PTC_CALL_BY_TAIL:
		return " (jumped to)";
	case PTC_CALL_BY_SIGNAL:
		return " (signal handler)";
	default:
		return "";
	}
}

static void format_traced(const struct ptc_crash_report *r, size_t i, size_t level, char *ret,
			  size_t size)
{
	size_t n;

	format_frame(r, &r->traced, i, level, ret, size);
	n = strlen(ret);
	(void)snprintf(ret + n, size - n, "%s", level ? "" : note_of(&r->traced, i));
}

/* Print a line with function @number, counted as gdb does: inlined functions are frames, too. */
static void show_function(const struct ptc_crash_report *r, size_t i, size_t level, size_t number,
			  size_t column, bool color)
{
	const bool first = !level && r->differ == (int)i;
	const bool same = i < r->traced.n && i < r->unwound.n &&
			  r->traced.frames[i].pc == r->unwound.frames[i].pc;
	char traced[320], unwound[256];

	format_traced(r, i, level, traced, sizeof(traced));
	format_frame(r, &r->unwound, i, level, unwound, sizeof(unwound));
	printf("%s%c%3zu ", first && color ? "\033[1m" : "", first ? '>' : ' ', number);
	ptc_show_plain(traced);
	printf("%*s %s", strlen(traced) < column ? (int)(column - strlen(traced)) : 0, "",
	       same ? "=" : "| ");
	ptc_show_plain(same ? "" : unwound);
	printf("%s%s\n", first ? "  <- differ" : "", first && color ? "\033[m" : "");
}

/* Return whether frame @i of @n gets a line. */
static bool is_shown(const struct ptc_crash_report *r, size_t i, size_t n)
{
	return i < FRAMES || i + 2 >= n ||
	       (r->differ >= 0 && i + AROUND >= (size_t)r->differ &&
		i <= (size_t)r->differ + AROUND);
}

static size_t column_of(const struct ptc_crash_report *r, size_t n)
{
	size_t column = COLUMN_MIN, i, level;
	char text[320];

	for (i = 0; i < n; i++) {
		for (level = is_shown(r, i, n) ? count_functions(r, &r->traced, i) : 0; level--;) {
			format_traced(r, i, level, text, sizeof(text));
			column = strlen(text) > column ? strlen(text) : column;
		}
	}
	return column < COLUMN_MAX ? column : COLUMN_MAX;
}

static void show_stacks(const struct ptc_crash_report *r, bool color)
{
	const size_t n = r->traced.n > r->unwound.n ? r->traced.n : r->unwound.n;
	const size_t column = column_of(r, n);
	size_t i, level, unwound, hidden = 0, number = 0;

	head("stack: from the trace | from memory", color);
	for (i = 0; i < n; i++) {
		level = count_functions(r, &r->traced, i);
		unwound = count_functions(r, &r->unwound, i);
		level = unwound > level ? unwound : level;
		if (!is_shown(r, i, n)) {
			hidden += level;
			number += level;
			continue;
		}
		if (hidden)
			printf("     ... %zu more ...\n", hidden);
		hidden = 0;
		while (level--)
			show_function(r, i, level, number++, column, color);
	}
	if (r->traced.cut)
		printf("     more than %zu frames in the trace; the outermost frames are not "
		       "shown\n",
		       r->traced.n);
	if (r->unwound.ends_in && r->unwound.n < r->traced.n) {
		printf("     the stack from memory ends here: the file '");
		ptc_show_plain(r->unwound.ends_in);
		printf("' with the unwind information is missing\n");
	}
	if (r->dead.signal.no_memory)
		printf("     recorded without memory (--no-memory): only the innermost frame on "
		       "the "
		       "right\n");
	if (r->unwound.cut)
		printf("     more than %zu frames in memory; the outermost frames are not shown\n",
		       r->unwound.n);
}

/* Report a loop whose iterations the trace cannot show. */
static void show_circle(const struct ptc_crash_report *r)
{
	struct ptc_crash_place place;

	if (!r->circle.insns)
		return;
	ptc_crash_place(r, r->circle.ip, &place);
	printf("loop     ");
	if (place.function) {
		ptc_show_plain(place.function);
		printf("+0x%" PRIx64, place.offset);
	} else {
		printf("0x%" PRIx64, r->circle.ip);
	}
	printf(": %zu instruction%s per round%s; this loop has no packets, so the trace shows only "
	       "one round; trust the stack from memory\n",
	       r->circle.insns, ptc_plural(r->circle.insns),
	       r->circle.calls ? ", with a call" : "");
}

/* --- calls, branches, threads --- */

/*
 * Returns the number of calls, without the calls that a stray return at the end is assumed to have
 * ended.
 */
static size_t count_calls(const struct ptc_crash_flow *f)
{
	/* The stray return also began one. */
	const size_t ended = f->strayed_n ? f->strayed_n + 1 : 0;

	return f->ncalls > ended ? f->ncalls - ended : 0;
}

static void show_call(const struct ptc_crash_report *r, const struct ptc_flow_call *c, bool empty)
{
	struct ptc_crash_place place;

	ptc_crash_place(r, c->ip, &place);
	if (place.function)
		ptc_show_plain(place.function);
	else
		printf("0x%" PRIx64, c->ip);
	if (!place.function || !strchr(place.function, '(')) /* C++ names include parameters */
		printf("()");
	printf("%s%s\n", empty ? ";" : " {",
	       c->how == PTC_CALL_BY_SIGNAL ? " /* signal handler */" :
	       c->how == PTC_CALL_BY_TAIL   ? " /* jumped to */" :
					      "");
}

static void show_calls(const struct ptc_crash_report *r, bool color)
{
	const struct ptc_crash_flow *f = &r->flow;
	const size_t n = count_calls(f), first = n > CALLS ? n - CALLS : 0;
	uint32_t least = UINT32_MAX, floor = UINT32_MAX;
	size_t i;

	head("last calls", color);
	for (i = first; i < n; i++)
		if (ptc_crash_flow_call(f, i)->depth < least)
			least = ptc_crash_flow_call(f, i)->depth;
	for (i = first; i < n; i++) {
		const struct ptc_flow_call *c = ptc_crash_flow_call(f, i);
		const struct ptc_flow_call *next = i + 1 < n ? ptc_crash_flow_call(f, i + 1) : NULL;
		const uint32_t deep = (c->depth - least) * 2;
		const bool empty = next && next->type == PTC_CALL_LEAVE && next->depth == c->depth;

		if (c->type == PTC_CALL_LEAVE && c->depth < floor)
			continue; /* the function began before the first line */
		printf("  %*s", (int)(deep < INDENT_MAX ? deep : INDENT_MAX), "");
		if (c->type != PTC_CALL_ENTER) {
			printf("%s\n", c->type == PTC_CALL_LOST ? "(gap)" : "}");
			continue;
		}
		floor = c->depth < floor ? c->depth : floor;
		show_call(r, c, empty);
		i += empty;
	}
}

static void show_branches(const struct ptc_crash_report *r, bool color)
{
	size_t i;

	head("last branches", color);
	for (i = 0; i < r->flow.nbranches; i++) {
		const struct ptc_item *it = ptc_crash_flow_branch(&r->flow, i);

		if (it->type == PTC_ITEM_GAP) {
			printf("  (gap: %s)\n", ptc_gap_name((enum ptc_gap_cause)it->cause));
			continue;
		}
		printf("  %-7s ", ptc_kind_name((enum ptc_kind)it->kind));
		if (ptc_item_has_from(it))
			show_place(r, it->from);
		printf(" -> ");
		if (ptc_item_has_to(it))
			show_place(r, it->to);
		putchar('\n');
	}
}

static void show_threads(const struct ptc_crash_report *r, bool color)
{
	size_t i;

	if (r->dead.nthreads < 2)
		return;
	head("other threads", color);
	for (i = 0; i < r->dead.nthreads; i++) {
		const struct ptc_crash_state_thread *t = &r->dead.threads[i];

		if (t == r->victim)
			continue;
		printf("  %" PRIu64 " (", t->state.tid);
		ptc_show_plain(t->name);
		printf(") %s", t->state.in_call ? "in a system call from " : "at ");
		show_place(r, t->state.regs[PTC_REG_RIP]);
		putchar('\n');
	}
}

void ptc_crash_text(const struct ptc_crash_report *r, bool color)
{
	show_fault(r, color);
	show_stacks(r, color);
	show_circle(r);
	show_calls(r, color);
	show_branches(r, color);
	show_threads(r, color);
}
