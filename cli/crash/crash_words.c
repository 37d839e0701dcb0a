/* SPDX-License-Identifier: MIT */
/* Description of a crash in one sentence. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/short_name.h"
#include "cli/crash/crash_out.h"

struct words {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->at, w->left, fmt, ap);
	va_end(ap);
	if (n <= 0)
		return;
	if ((size_t)n >= w->left)
		n = (int)w->left - 1; /* cut off */
	w->at += n;
	w->left -= (size_t)n;
}

void ptc_crash_signal_name(uint64_t signo, char ret[16])
{
	const char *name = signo < 65 ? sigabbrev_np((int)signo) : NULL;

	if (name)
		(void)snprintf(ret, 16, "SIG%s", name);
	else
		(void)snprintf(ret, 16, "signal %u", (unsigned int)(signo & 0xffff));
}

/* Append "wrote 4 bytes at 0x10". */
static void say_access(struct words *w, const struct ptc_crash_why *why)
{
	const char *verb = why->access == PTC_ACCESS_WRITE ? "wrote" :
			   why->access == PTC_ACCESS_READ  ? "read" :
							     "touched";

	if (why->size)
		say(w, "%s %" PRIu32 " byte%s at", verb, why->size, why->size == 1 ? "" : "s");
	else
		say(w, "%s", verb);
	say(w, " 0x%" PRIx64, why->addr);
}

static void say_map(struct words *w, const struct ptc_crash_state_map *m)
{
	const char *name = m ? ptc_crash_state_map_name(m) : NULL;
	uint64_t prot;

	if (!m)
		return;
	prot = ptc_crash_state_map_range(m)->prot;
	say(w, "%s%s (%c%c%c)", *name ? "" : "memory of no file", name, prot & 1 ? 'r' : '-',
	    prot & 2 ? 'w' : '-', prot & 4 ? 'x' : '-');
}

static void say_jump(struct words *w, const struct ptc_crash_report *r)
{
	const struct ptc_crash_why *why = ptc_crash_report_why(r);
	const struct ptc_item *by = ptc_crash_report_culprit(r);
	const char *how = "jumped to";

	if (by && by->kind == PTC_KIND_RET)
		how = "returned to";
	else if (by && (by->kind == PTC_KIND_CALL || by->kind == PTC_KIND_ICALL))
		how = "called";
	say(w, "%s 0x%" PRIx64, how, why->addr);
	if (why->reason == PTC_REASON_BAD_JUMP) {
		say(w, ", where there is nothing");
		return;
	}
	say(w, ", which is no code: ");
	say_map(w, why->map);
}

/*
 * Returns the meaning of an abort in a library function, by a part of its name. The first match
 * counts.
 */
static const char *complaint(const char *by)
{
	static const struct {
		const char *part, *what;
	} known[] = {
		{ "assert", "an assertion failed" },
		{ "stack_chk", "the stack's canary was overwritten" },
		{ "chk_fail", "a check of a buffer's size failed" },
		{ "fortify", "a check of a buffer's size failed" },
		{ "free", "the heap is corrupted" },
		{ "alloc", "the heap is corrupted" },
		{ "throw", "an exception that nobody caught" },
		{ "terminate", "an exception that nobody caught" },
		{ "Unwind", "an exception that nobody caught" },
		{ "panic", "a panic" },
		{ "unwrap_failed", "a panic" },
		{ "expect_failed", "a panic" },
	};
	size_t i;

	for (i = 0; by && i < sizeof(known) / sizeof(known[0]); i++)
		if (strstr(by, known[i].part))
			return known[i].what;
	return "the program gave up";
}

/* A message of the runtime is surer than the name of a function. */
static const char *why_aborted(const struct ptc_crash_report *r)
{
	const struct ptc_runtime_text *m;
	size_t i;

	for (i = 0; (m = ptc_crash_report_message(r, i)) != NULL; i++) {
		if (m->kind == PTC_CRASH_CXX_EXCEPTION)
			return "an exception that nobody caught";
		if (m->kind == PTC_CRASH_RUST_PANIC || m->kind == PTC_CRASH_GO_PANIC)
			return "a panic";
		if (m->kind == PTC_CRASH_ASAN_REPORT)
			return "an error that AddressSanitizer found";
	}
	return complaint(ptc_crash_report_given_up_by(r));
}

static void say_abort(struct words *w, const struct ptc_crash_report *r, size_t width)
{
	const struct ptc_crash_stack *s = ptc_crash_report_believed(r);
	const char *by = ptc_crash_report_given_up_by(r);
	const int gave_up = ptc_crash_report_gave_up(r);
	struct ptc_crash_place place = PTC_CRASH_PLACE_INIT;
	char *name;

	say(w, "%s", why_aborted(r));
	if (by)
		say(w, ": %s%s", by, strchr(by, '(') ? "" : "()");
	if (gave_up < 0)
		return;
	ptc_crash_place_frame(r, ptc_crash_stack_frame(s, (size_t)gave_up), &place);
	name = place.function && width != SIZE_MAX ? ptc_short_name(place.function, width) : NULL;
	say(w, ", called by %s",
	    name	   ? name :
	    place.function ? place.function :
			     "code without a name");
	free(name);
}

static void say_sender(struct words *w, const struct ptc_crash_signal *signal)
{
	if (!signal->sender) /* the kernel reports both in the same way */
		say(w, "sent by the kernel, or by a process outside of its PID namespace");
	else
		say(w, "sent by process %" PRIu64 "%s", signal->sender,
		    signal->sender == signal->pid ? ", itself" : "");
}

static void say_handled(struct words *w, const struct ptc_crash_signal *signal)
{
	if (signal->exit_status)
		say(w, "; the program handled the signal, and later exited with status %" PRIu64,
		    signal->exit_status);
}

void ptc_crash_sentence(const struct ptc_crash_report *r, size_t width,
			char ret[PTC_CRASH_SENTENCE])
{
	const struct ptc_crash_signal *signal = ptc_crash_state_signal(ptc_crash_report_state(r));
	const struct ptc_crash_why *why = ptc_crash_report_why(r);
	struct words w = { ret, PTC_CRASH_SENTENCE };

	ret[0] = '\0';
	switch (why->reason) {
	case PTC_REASON_NULL_PAGE:
		say_access(&w, why);
		if (why->addr)
			say(&w, ", %" PRIu64 " bytes behind a null pointer", why->addr);
		else
			say(&w, ", a null pointer");
		break;
	case PTC_REASON_READ_ONLY:
		say_access(&w, why);
		say(&w, ", which is read-only: ");
		say_map(&w, why->map);
		break;
	case PTC_REASON_STACK_OVERFLOW:
		say_access(&w, why);
		say(&w, ", below the end of its stack: it is used up");
		break;
	case PTC_REASON_UNMAPPED:
		say_access(&w, why);
		say(&w, ", where there is nothing");
		break;
	case PTC_REASON_PROTECTED:
		say_access(&w, why);
		say(&w, ", which its protection forbids: ");
		say_map(&w, why->map);
		break;
	case PTC_REASON_NON_CANONICAL:
		say_access(&w, why);
		say(&w, ", which is no address at all (not canonical)");
		break;
	case PTC_REASON_BAD_JUMP:
	case PTC_REASON_NO_EXEC:
		say_jump(&w, r);
		break;
	case PTC_REASON_DIVISION:
		say(&w, "divided by zero");
		break;
	case PTC_REASON_QUOTIENT:
		say(&w, "divided, and the result does not fit");
		break;
	case PTC_REASON_UD:
		say(&w, "came to where the compiler said that nobody comes (ud2): a trap, or a "
			"function without its return");
		break;
	case PTC_REASON_ILLEGAL:
		say(&w, "ran what is no instruction of this processor");
		break;
	case PTC_REASON_BREAKPOINT:
		say(&w, "ran into a breakpoint, and there is no debugger");
		break;
	case PTC_REASON_BEYOND_FILE:
		say_access(&w, why);
		say(&w, ", a page behind the end of the file that is mapped there: ");
		say_map(&w, why->map);
		break;
	case PTC_REASON_BUS:
		say_access(&w, why);
		say(&w, ": misaligned, or a fault of the memory");
		break;
	case PTC_REASON_ABORT:
		say_abort(&w, r, width);
		break;
	case PTC_REASON_SENT:
		say_sender(&w, signal);
		break;
	default:
		say(&w, "si_code %" PRId64, signal->code);
	}
	say_handled(&w, signal);
}
