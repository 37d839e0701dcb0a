/* SPDX-License-Identifier: MIT */
#include "decode/crash/gave_up.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "decode/crash/crash.h"
#include "decode/crash/go_message.h"
#include "decode/crash/runtime_frames.h"

/* --- the frame --- */

/* Did the thread itself cause the signal, with abort() or raise()? */
static bool gave_up(const struct ptc_crash_report *r)
{
	const struct ptc_crash_signal *s = &r->dead.signal;

	return r->why.reason == PTC_REASON_ABORT ||
	       (r->why.reason == PTC_REASON_SENT && s->code == SI_TKILL && s->sender == s->pid);
}

static bool is_of_runtime(const struct ptc_crash_place *place)
{
	return ptc_runtime_of(place->file, place->function) != PTC_RUNTIME_NONE;
}

/* Find the frame that gave up: the innermost one outside of the runtimes. */
static void find_frame(struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *s = ptc_crash_report_believed(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	size_t i;

	for (i = 0; i < s->n; i++) {
		ptc_crash_place_frame(r, &s->frames[i], &place);
		if (!is_of_runtime(&place))
			break;
		if (place.function)
			(void)snprintf(r->given_up_name, sizeof(r->given_up_name), "%s",
				       place.function);
	}
	if (i == s->n)
		return;
	r->gave_up = (int)i;
	if (r->given_up_name[0])
		r->given_up_by = r->given_up_name;
}

/* --- the messages --- */

/*
 * Did the process end because of an exception? A function's name tells it. The C++ library has its
 * own functions in front of the one that gave up, maybe without names.
 */
static bool is_terminated(const struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *s = ptc_crash_report_believed(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	size_t i;

	for (i = 0; i < s->n; i++) {
		ptc_crash_place_frame(r, &s->frames[i], &place);
		if (ptc_runtime_message_terminates(place.function) ||
		    (!place.function && (int)i < r->gave_up &&
		     ptc_runtime_of(place.file, NULL) == PTC_RUNTIME_CXX))
			return true;
	}
	return false;
}

/*
 * Did the process end because of a panic? A function's name tells it. If the program has no names,
 * the message alone counts.
 */
static bool has_panicked(const struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *s = ptc_crash_report_believed(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	size_t i;

	for (i = 0; i < s->n; i++) {
		ptc_crash_place_frame(r, &s->frames[i], &place);
		if (!place.function && !is_of_runtime(&place))
			return true;
		if (ptc_runtime_of(place.file, place.function) == PTC_RUNTIME_RUST &&
		    place.function && strstr(place.function, "panic"))
			return true;
	}
	return false;
}

/*
 * Did the process end in AddressSanitizer? An older report may still be in memory. If the program
 * has no names, the report alone counts.
 */
static bool is_of_asan(const struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *s = ptc_crash_report_believed(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	size_t i;

	for (i = 0; i < s->n; i++) {
		ptc_crash_place_frame(r, &s->frames[i], &place);
		if (!place.function ||
		    ptc_runtime_of(place.file, place.function) == PTC_RUNTIME_SANITIZER)
			return true;
	}
	return false;
}

/* Is the message about the end of the process? An exception that is being handled may be not. */
static bool counts(const struct ptc_crash_report *r, const struct ptc_runtime_message *m)
{
	switch (m->kind) {
	case PTC_CRASH_CXX_EXCEPTION:
		return is_terminated(r);
	case PTC_CRASH_RUST_PANIC:
		return has_panicked(r);
	case PTC_CRASH_ASAN_REPORT:
		return is_of_asan(r);
	default:
		return true;
	}
}

/* A class of the program may have a what() of its own. That returns some other text. */
static void check_text(const struct ptc_crash_report *r, struct ptc_runtime_message *m)
{
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;

	if (!m->what)
		return;
	ptc_crash_place_at(r, m->what, &place);
	if (!ptc_runtime_message_is_what(place.function, m->type))
		m->text[0] = '\0';
}

static bool read_message(const struct ptc_crash_report *r, size_t i,
			 struct ptc_runtime_message *ret)
{
	const struct ptc_crash_message *at = &r->dead.messages[i];

	return at->what == PTC_CRASH_GO_PANIC ? ptc_go_message_read(r, at, ret) :
						ptc_runtime_message_read(&r->dead, i, ret);
}

static struct ptc_runtime_text lend_text(const struct ptc_runtime_message *m)
{
	return (struct ptc_runtime_text){
		.kind = m->kind,
		.type = m->type,
		.text = m->text,
		.cut = m->cut,
		.file = m->file,
		.line = m->line,
		.column = m->column,
		.goroutine = m->goroutine,
	};
}

static void read_messages(struct ptc_crash_report *r)
{
	size_t i;

	for (i = 0; i < r->dead.nmessages; i++) {
		struct ptc_runtime_message *m = &r->messages[r->nmessages];

		if (!read_message(r, i, m) || !counts(r, m))
			continue;
		check_text(r, m);
		r->texts[r->nmessages++] = lend_text(m);
	}
}

/* --- the throw --- */

/* Finds the place of the last throw in the trace: the innermost caller outside of the runtimes. */
static void find_traced_throw(struct ptc_crash_report *r)
{
	const struct ptc_flow_throw *t = &r->flow.thrown;
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	size_t i;

	if (!t->ip)
		return;
	ptc_crash_place_at(r, t->ip, &place);
	if (!ptc_crash_flow_is_throw(place.function))
		return;
	for (i = 0; i < t->n && !r->has_thrown; i++) {
		r->thrown = (struct ptc_crash_frame){ .pc = t->rets[i] };
		ptc_crash_place_frame(r, &r->thrown, &place);
		r->has_thrown = !is_of_runtime(&place);
	}
}

/* If no handler was found, the stack still has the function that threw. */
static bool find_throw_in_stack(struct ptc_crash_report *r)
{
	const struct ptc_crash_stack *s = ptc_crash_report_believed(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	bool threw = false;
	size_t i;

	for (i = 0; i < s->n && !r->has_thrown; i++) {
		ptc_crash_place_frame(r, &s->frames[i], &place);
		threw |= ptc_crash_flow_is_throw(place.function);
		r->has_thrown = threw && !is_of_runtime(&place);
		r->thrown = s->frames[i];
	}
	return r->has_thrown;
}

void ptc_crash_find_who_gave_up(struct ptc_crash_report *r)
{
	if (!gave_up(r))
		return;
	find_frame(r);
	if (r->why.reason != PTC_REASON_ABORT)
		return;
	read_messages(r);
	if (is_terminated(r) && !find_throw_in_stack(r))
		find_traced_throw(r);
}
