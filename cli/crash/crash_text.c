/* SPDX-License-Identifier: MIT */
/* Text output of `ptcap crash show`: one screen, the most important lines first. */
#include <stdint.h>

#include "cli/crash/crash_out.h"

/* Limits of one screen, and without this limit (-v). */
enum {
	SCREEN = 40,
	FRAMES = 12,
	FRAMES_MIN = 3,
	STACK_MIN = 8,
	FRAMES_MAX = 256,
	BRANCHES = 20,
	BRANCHES_MIN = 4,
	THREADS = 4,
	PYTHON = 8,
	HEADING = 2
};

static struct ptc_screen screen_of(const struct ptc_crash_view *v)
{
	return (struct ptc_screen){ .width = v->width, .color = v->color };
}

/* Make the stack with as many frames as fit @lines. */
static struct ptc_screen fit_stack(const struct ptc_crash_view *v, size_t lines)
{
	struct ptc_screen s = screen_of(v);
	size_t frames = v->verbose ? FRAMES_MAX : FRAMES;

	for (;; frames--) {
		ptc_crash_add_stack(v, &s, frames);
		if (v->verbose || s.n <= lines || frames == FRAMES_MIN)
			break;
		ptc_screen_release(&s);
	}
	if (!v->verbose)
		ptc_screen_cut(&s, lines > STACK_MIN ? lines : STACK_MIN);
	return s;
}

bool ptc_crash_text(const struct ptc_crash_view *v)
{
	struct ptc_screen s = screen_of(v), threads = screen_of(v), python = screen_of(v), stack;
	size_t used, branches = v->branches;
	bool whole;

	ptc_crash_add_answer(v, &s);
	ptc_crash_add_threads(v, &threads, v->threads || v->verbose ? SIZE_MAX : THREADS);
	ptc_crash_add_python(v, &python, v->verbose ? FRAMES_MAX : PYTHON);
	used = s.n + python.n + (v->threads ? 0 : threads.n) + HEADING;
	stack = fit_stack(v, used + BRANCHES_MIN < SCREEN ? SCREEN - used - BRANCHES_MIN : 0);
	used += stack.n;
	ptc_screen_move(&s, &stack);
	ptc_screen_move(&s, &python);
	if (v->verbose && ptc_crash_report_calls(v->r))
		ptc_crash_add_calls(v, &s);
	if (!branches && v->verbose)
		branches = BRANCHES;
	else if (!branches)
		branches = used + BRANCHES_MIN > SCREEN ? BRANCHES_MIN : SCREEN - used;
	if (ptc_crash_report_branches(v->r))
		ptc_crash_add_branches(v, &s,
				       v->branches || branches < BRANCHES ? branches : BRANCHES);
	ptc_screen_move(&s, &threads);
	whole = !s.failed;
	ptc_screen_print(&s);
	ptc_screen_release(&s);
	return whole;
}
