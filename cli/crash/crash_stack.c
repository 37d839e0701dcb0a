/* SPDX-License-Identifier: MIT */
/* The stacks of `ptcap crash show`. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/terminal_escape.h"
#include "cli/crash/crash_out.h"
#include "cli/crash/place_text.h"

enum { AROUND = 2, NUMBER = 5, COLUMN_MIN = 24, NOTE_LINES = 2 };

static const char bar[] = " | ", differ[] = "  <- differ";

static const char *note_of(const struct ptc_crash_frame *f)
{
	switch (f->how) {
	case PTC_CALL_BY_TAIL:
		return " (jumped to)";
	case PTC_CALL_BY_SIGNAL:
		return " (signal handler)";
	default:
		return "";
	}
}

/* Returns the number of functions in frame @i: those inlined, and the real one. */
static size_t count_functions(const struct ptc_crash_report *r, const struct ptc_crash_stack *stack,
			      size_t i)
{
	const struct ptc_crash_frame *f = ptc_crash_stack_frame(stack, i);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	if (!f)
		return 0;
	ptc_crash_place_frame(r, f, &place);
	return place.nfunctions;
}

/*
 * Returns function @depth of frame @i as text: 0 is the real one, others are inlined. "": there is
 * none. Caller frees it. NULL: out of memory.
 */
static char *frame_text(const struct ptc_crash_report *r, const struct ptc_crash_stack *stack,
			size_t i, size_t depth, size_t width, bool *ret_runtime)
{
	const struct ptc_crash_frame *f = ptc_crash_stack_frame(stack, i);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	char *text, *ret = NULL;
	const char *note;

	*ret_runtime = true;
	if (!f)
		return strdup("");
	ptc_crash_place_frame(r, f, &place);
	if (depth >= place.nfunctions)
		return strdup("");
	ptc_crash_place_level(&place, place.nfunctions - 1 - depth);
	note = depth ? "" : note_of(f);
	*ret_runtime = ptc_crash_is_runtime(r, &place);
	if (width != SIZE_MAX)
		width = width > strlen(note) + 1 ? width - strlen(note) : 1;
	text = ptc_place_text(&place, width);
	if (text && asprintf(&ret, "%s%s", text, note) < 0)
		ret = NULL;
	free(text);
	return ret;
}

/* Inlined functions of libraries get no line on one screen. */
static bool is_hidden(const struct ptc_crash_view *v, size_t depth, bool runtime)
{
	return depth && runtime && !v->verbose;
}

size_t ptc_crash_add_frame(const struct ptc_crash_view *v, struct ptc_screen *s,
			   const struct ptc_crash_stack *stack, size_t i, size_t number)
{
	const size_t width = v->width == SIZE_MAX ? SIZE_MAX : v->width - NUMBER;
	size_t depth = count_functions(v->r, stack, i);

	for (; depth--; number++) {
		bool runtime;
		char *text = frame_text(v->r, stack, i, depth, width, &runtime);

		if (text && !is_hidden(v, depth, runtime))
			ptc_screen_add(s, runtime ? PTC_STYLE_DIM : PTC_STYLE_PLAIN, " %3zu %s",
				       number, text);
		s->failed |= !text;
		free(text);
	}
	return number;
}

/* --- two stacks that differ --- */

/* Do both stacks have the same address in frame @i? */
static bool is_same_frame(const struct ptc_crash_report *r, size_t i)
{
	const struct ptc_crash_frame *a = ptc_crash_stack_frame(ptc_crash_report_traced(r), i);
	const struct ptc_crash_frame *b = ptc_crash_stack_frame(ptc_crash_report_unwound(r), i);

	return a && b && a->pc == b->pc;
}

/* A line with a function of both stacks. */
struct both {
	size_t frame, depth, number;
	size_t column; /* columns of the left stack */
};

static void add_line_of_both(const struct ptc_crash_view *v, struct ptc_screen *s,
			     const struct both *b)
{
	const struct ptc_crash_report *r = v->r;
	const bool first = !b->depth && ptc_crash_report_differ_at(r) == (int)b->frame;
	const bool same = is_same_frame(r, b->frame);
	const size_t taken = NUMBER + b->column + strlen(bar) + (first ? strlen(differ) : 0);
	const bool whole = v->width == SIZE_MAX;
	bool dim, dim_right;
	char *left = frame_text(r, ptc_crash_report_traced(r), b->frame, b->depth,
				whole ? SIZE_MAX : b->column, &dim);
	char *right = frame_text(r, ptc_crash_report_unwound(r), b->frame, b->depth,
				 whole		  ? SIZE_MAX :
				 v->width > taken ? v->width - taken :
						    1,
				 &dim_right);
	const size_t used = left ? ptc_plain_width(left) : 0;

	dim &= dim_right || same;
	if (left && right && !is_hidden(v, b->depth, dim))
		ptc_screen_add(s,
			       first ? PTC_STYLE_BOLD :
			       dim   ? PTC_STYLE_DIM :
				       PTC_STYLE_PLAIN,
			       "%c%3zu %s%*s%s%s%s", first ? '>' : ' ', b->number, left,
			       used < b->column ? (int)(b->column - used) : 0, "",
			       same ? " =" : bar, same ? "" : right, first ? differ : "");
	s->failed |= !left || !right;
	free(left);
	free(right);
}

/* Append frame @i of both stacks. Returns the number of the next function. */
static size_t add_both(const struct ptc_crash_view *v, struct ptc_screen *s, size_t i,
		       size_t number, size_t column)
{
	const size_t left = count_functions(v->r, ptc_crash_report_traced(v->r), i);
	const size_t right = count_functions(v->r, ptc_crash_report_unwound(v->r), i);
	size_t depth = left > right ? left : right;

	for (; depth--; number++)
		add_line_of_both(v, s, &(struct both){ i, depth, number, column });
	return number;
}

/* --- which frames --- */

/* Return whether frame @i of @n gets a line: the first @most, the last, and around a difference. */
static bool is_shown(const struct ptc_crash_report *r, size_t i, size_t n, size_t most)
{
	const int differ_at = ptc_crash_report_differ_at(r);

	return i < most || i + 2 >= n ||
	       (differ_at >= 0 && i + AROUND >= (size_t)differ_at &&
		i <= (size_t)differ_at + AROUND);
}

/* Returns the columns that the left stack takes. */
static size_t column_of(const struct ptc_crash_view *v, size_t n, size_t most)
{
	const size_t limit = v->width == SIZE_MAX ? SIZE_MAX :
						    (v->width - NUMBER - strlen(bar)) / 2;
	size_t column = COLUMN_MIN < limit ? COLUMN_MIN : limit, i;

	for (i = 0; i < n; i++) {
		bool runtime;
		char *text = is_shown(v->r, i, n, most) ?
				     frame_text(v->r, ptc_crash_report_traced(v->r), i, 0, limit,
						&runtime) :
				     NULL;
		const size_t width = text ? ptc_plain_width(text) : 0;

		column = width > column ? width : column;
		free(text);
	}
	return column < limit ? column : limit;
}

static const char *title_of(const struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *unwound = ptc_crash_report_unwound(r);

	if (ptc_crash_report_differ_at(r) >= 0)
		return "stack: from the trace | from memory";
	if (ptc_crash_report_believed(r) == unwound)
		return "stack: from memory";
	if (ptc_crash_stack_depth(unwound) < 2 &&
	    ptc_crash_stack_depth(ptc_crash_report_traced(r)) > 1)
		return "stack: from the trace";
	return "stack: the trace and the memory agree";
}

static void add_frames(const struct ptc_crash_view *v, struct ptc_screen *s, size_t most)
{
	const struct ptc_crash_report *r = v->r;
	const struct ptc_crash_stack *stack = ptc_crash_report_believed(r);
	const struct ptc_crash_stack *traced = ptc_crash_report_traced(r);
	const struct ptc_crash_stack *unwound = ptc_crash_report_unwound(r);
	const size_t a = ptc_crash_stack_depth(traced), b = ptc_crash_stack_depth(unwound);
	const bool both = ptc_crash_report_differ_at(r) >= 0;
	const size_t n = a > b && (both || stack == traced) ? a : b;
	const size_t column = both ? column_of(v, n, most) : 0;
	size_t i, hidden = 0, number = 0;

	for (i = 0; i < n; i++) {
		const struct ptc_crash_stack *has = ptc_crash_stack_frame(stack, i) ? stack :
										      unwound;

		if (!is_shown(r, i, n, most)) {
			hidden += count_functions(r, has, i);
			number += count_functions(r, has, i);
			continue;
		}
		if (hidden)
			ptc_screen_add(s, PTC_STYLE_PLAIN, "     ... %zu more ...", hidden);
		hidden = 0;
		number = both ? add_both(v, s, i, number, column) :
				ptc_crash_add_frame(v, s, has, i, number);
	}
}

static void add_stack_notes(const struct ptc_crash_report *r, struct ptc_screen *s)
{
	const struct ptc_crash_stack *traced = ptc_crash_report_traced(r);
	const struct ptc_crash_stack *unwound = ptc_crash_report_unwound(r);
	const size_t a = ptc_crash_stack_depth(traced), b = ptc_crash_stack_depth(unwound);
	const char *ends_in = ptc_crash_stack_ends_in(unwound);

	if (ptc_crash_stack_is_cut(traced))
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "     more than %zu frames in the trace; the outermost frames are "
			       "not shown",
			       a);
	if (ends_in && b < a)
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "     without the unwind information of '%s' the stack in memory "
			       "ends",
			       ptc_path_base(ends_in));
	if (ptc_crash_state_signal(ptc_crash_report_state(r))->no_memory)
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "     recorded without memory (--no-memory): only the trace has "
			       "callers");
	if (ptc_crash_stack_is_cut(unwound) && b < a && ptc_crash_report_differ_at(r) < 0 &&
	    ptc_crash_report_believed(r) == traced)
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "     only the trace has the frames behind the first %zu", b);
	else if (ptc_crash_stack_is_cut(unwound))
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "     more than %zu frames in memory; the outermost frames are not "
			       "shown",
			       b);
}

/* Report a loop whose iterations the trace cannot show. */
static void add_circle(const struct ptc_crash_view *v, struct ptc_screen *s)
{
	const struct ptc_crash_report *r = v->r;
	const struct ptc_silent_loop *loop = ptc_crash_report_loop(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	char *name, *text = NULL;

	if (!loop)
		return;
	ptc_crash_place_at(r, loop->ip, &place);
	name = ptc_place_name(&place, v->width / 2);
	if (name &&
	    asprintf(&text,
		     "loop     %s: %zu instruction%s per round%s; this loop has no packets, "
		     "so the trace shows only one round; trust the stack from memory",
		     name, loop->insns, ptc_plural(loop->insns),
		     loop->calls ? ", with a call" : "") >= 0)
		ptc_screen_wrap(s, 9, NOTE_LINES, text);
	else
		s->failed = true;
	free(name);
	free(text);
}

void ptc_crash_add_stack(const struct ptc_crash_view *v, struct ptc_screen *s, size_t frames)
{
	ptc_screen_heading(s, title_of(v->r));
	add_frames(v, s, frames);
	add_stack_notes(v->r, s);
	add_circle(v, s);
}
