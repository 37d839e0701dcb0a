/* SPDX-License-Identifier: MIT */
/* The contents of a report: functions of ptcap/crash_report.h and ptcap/crash_stack.h. */
#include <stdlib.h>

#include "decode/crash/crash.h"

const char *ptc_crash_report_note(const struct ptc_crash_report *r, size_t i)
{
	return ptc_decode_note(r->d, i);
}

const struct ptc_crash_state *ptc_crash_report_state(const struct ptc_crash_report *r)
{
	return &r->dead;
}

/* --- why --- */

const struct ptc_crash_why *ptc_crash_report_why(const struct ptc_crash_report *r)
{
	return &r->why;
}

const struct ptc_crash_point *ptc_crash_report_point(const struct ptc_crash_report *r)
{
	return &r->at;
}

const struct ptc_item *ptc_crash_report_culprit(const struct ptc_crash_report *r)
{
	return r->culprit;
}

int ptc_crash_report_gave_up(const struct ptc_crash_report *r)
{
	return r->gave_up;
}

const char *ptc_crash_report_given_up_by(const struct ptc_crash_report *r)
{
	return r->given_up_by;
}

const struct ptc_crash_frame *ptc_crash_report_thrown(const struct ptc_crash_report *r)
{
	return r->has_thrown ? &r->thrown : NULL;
}

size_t ptc_crash_report_messages(const struct ptc_crash_report *r)
{
	return r->nmessages;
}

const struct ptc_runtime_text *ptc_crash_report_message(const struct ptc_crash_report *r, size_t i)
{
	return i < r->nmessages ? &r->texts[i] : NULL;
}

/* --- stacks --- */

const struct ptc_crash_stack *ptc_crash_report_traced(const struct ptc_crash_report *r)
{
	return &r->traced;
}

const struct ptc_crash_stack *ptc_crash_report_unwound(const struct ptc_crash_report *r)
{
	return &r->unwound;
}

const struct ptc_crash_stack *ptc_crash_report_believed(const struct ptc_crash_report *r)
{
	const bool traced = r->traced.n && !(r->circle.insns && r->unwound.n);

	return traced ? &r->traced : &r->unwound;
}

int ptc_crash_report_differ_at(const struct ptc_crash_report *r)
{
	return r->differ;
}

size_t ptc_crash_stack_depth(const struct ptc_crash_stack *s)
{
	return s->n;
}

const struct ptc_crash_frame *ptc_crash_stack_frame(const struct ptc_crash_stack *s, size_t i)
{
	return i < s->n ? &s->frames[i] : NULL;
}

bool ptc_crash_stack_is_cut(const struct ptc_crash_stack *s)
{
	return s->cut;
}

const char *ptc_crash_stack_ends_in(const struct ptc_crash_stack *s)
{
	return s->ends_in;
}

void ptc_crash_stack_free(struct ptc_crash_stack *s)
{
	if (!s)
		return;
	free(s->frames);
	free(s);
}

const struct ptc_python_frames *ptc_crash_report_python(const struct ptc_crash_report *r)
{
	return &r->python;
}

/* --- the trace --- */

bool ptc_crash_report_trace_is_short(const struct ptc_crash_report *r)
{
	return r->trace_is_short;
}

const struct ptc_silent_loop *ptc_crash_report_loop(const struct ptc_crash_report *r)
{
	return r->circle.insns ? &r->circle : NULL;
}

size_t ptc_crash_report_branches(const struct ptc_crash_report *r)
{
	return r->flow.nbranches;
}

const struct ptc_item *ptc_crash_report_branch(const struct ptc_crash_report *r, size_t i)
{
	return i < r->flow.nbranches ? ptc_crash_flow_branch(&r->flow, i) : NULL;
}

/*
 * A stray return at the end is assumed to have ended the frames that it left, and to have begun a
 * function. These are no calls of the program.
 */
size_t ptc_crash_report_calls(const struct ptc_crash_report *r)
{
	const size_t ended = r->flow.strayed_n ? r->flow.strayed_n + 1 : 0;

	return r->flow.ncalls > ended ? r->flow.ncalls - ended : 0;
}

const struct ptc_flow_call *ptc_crash_report_call(const struct ptc_crash_report *r, size_t i)
{
	return i < ptc_crash_report_calls(r) ? ptc_crash_flow_call(&r->flow, i) : NULL;
}

/* --- the core and other crashes --- */

const struct ptc_crash_core *ptc_crash_report_core(const struct ptc_crash_report *r)
{
	return r->core ? &r->core_says : NULL;
}

size_t ptc_crash_report_deaths(const struct ptc_crash_report *r)
{
	return r->deaths.n;
}

const struct ptc_crash_signal *ptc_crash_report_death(const struct ptc_crash_report *r, size_t i)
{
	return i < r->deaths.n ? &r->deaths.items[i] : NULL;
}

uint64_t ptc_crash_report_deaths_left_out(const struct ptc_crash_report *r)
{
	return r->deaths.left_out;
}
