/* SPDX-License-Identifier: MIT */
/* The other threads of `ptcap crash show`. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/terminal_escape.h"
#include "cli/crash/crash_out.h"
#include "cli/crash/place_text.h"

enum { FRAMES = 12, INNER = 24 };

/* Returns the first frame in the user's code, or 0. */
static size_t user_frame(const struct ptc_crash_report *r, const struct ptc_crash_stack *stack)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	const struct ptc_crash_frame *f;
	size_t i;

	for (i = 0; (f = ptc_crash_stack_frame(stack, i)) != NULL && i < FRAMES; i++) {
		ptc_crash_place_frame(r, f, &place);
		if (ptc_crash_find_user_code(r, &place))
			return i;
	}
	return 0;
}

/* Append the line of thread @t: its place in the user's code, and the function that it called. */
static void add_thread(const struct ptc_crash_view *v, struct ptc_screen *s,
		       const struct ptc_crash_state_thread *t, const struct ptc_crash_stack *stack)
{
	const struct ptc_crash_thread *regs = ptc_crash_state_registers(t);
	const size_t frame = user_frame(v->r, stack);
	char head[64], inner[4 * INNER + 8] = "", *name, *text;
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	const char *call;
	size_t taken;

	call = regs->in_call && !frame ? " (system call)" : "";
	(void)snprintf(head, sizeof(head), "  %" PRIu64 " (%.16s)  ", regs->tid,
		       ptc_crash_state_thread_name(t));
	if (frame)
		ptc_crash_place_frame(v->r, ptc_crash_stack_frame(stack, frame - 1), &place);
	name = frame ? ptc_place_bare_name(&place, INNER) : NULL;
	if (name)
		(void)snprintf(inner, sizeof(inner), " > %s%s", name,
			       strchr(name, '(') ? "" : "()");
	free(name);
	if (frame)
		ptc_crash_place_frame(v->r, ptc_crash_stack_frame(stack, frame), &place);
	else
		ptc_crash_place_at(v->r, regs->regs[PTC_REG_RIP], &place);
	(void)ptc_crash_find_user_code(v->r, &place);
	taken = ptc_plain_width(head) + ptc_plain_width(inner) + strlen(call);
	text = ptc_place_text(&place, v->width == SIZE_MAX ? SIZE_MAX :
				      v->width > taken	   ? v->width - taken :
							     1);
	if (text)
		ptc_screen_add(s, PTC_STYLE_PLAIN, "%s%s%s%s", head, text, inner, call);
	s->failed |= !text;
	free(text);
}

static void add_one(const struct ptc_crash_view *v, struct ptc_screen *s,
		    const struct ptc_crash_state_thread *t)
{
	struct ptc_crash_stack *stack;
	struct ptc_err err;
	size_t i, n, number = 0;

	if (ptc_crash_unwind_thread(v->r, t, &stack, &err)) {
		s->failed = true;
		return;
	}
	n = ptc_crash_stack_depth(stack);
	add_thread(v, s, t, stack);
	for (i = 0; v->threads && i < n && i < FRAMES; i++)
		number = ptc_crash_add_frame(v, s, stack, i, number);
	if (v->threads && n > FRAMES)
		ptc_screen_add(s, PTC_STYLE_PLAIN, "     ... %zu more ...", n - FRAMES);
	ptc_crash_stack_free(stack);
}

void ptc_crash_add_threads(const struct ptc_crash_view *v, struct ptc_screen *s, size_t n)
{
	const struct ptc_crash_state *dead = ptc_crash_report_state(v->r);
	const size_t all = ptc_crash_state_threads(dead);
	size_t i, shown = 0;

	if (all < 2)
		return;
	ptc_screen_heading(s, "other threads");
	for (i = 0; i < all && shown < n; i++) {
		const struct ptc_crash_state_thread *t = ptc_crash_state_get_thread(dead, i);

		if (t == ptc_crash_state_victim(dead))
			continue;
		add_one(v, s, t);
		shown++;
	}
	if (shown + 1 < all)
		ptc_screen_add(s, PTC_STYLE_PLAIN, "  ... %zu more thread%s; --threads shows all",
			       all - 1 - shown, ptc_plural(all - 1 - shown));
}
