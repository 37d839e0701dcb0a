/* SPDX-License-Identifier: MIT */
/*
 * The stack of a thread in a report of ptcap/crash_report.h. A frame may have more members in a
 * later version, so a caller copies none of them.
 */
#ifndef PTCAP_CRASH_STACK_H
#define PTCAP_CRASH_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/calls.h"
#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PTC_UNWIND_MAX = 4096 }; /* limit: frames of a stack from memory */

/* A frame, from the trace or from memory. */
struct ptc_crash_frame {
	uint64_t pc;	       /* innermost frame: current address; others: where they go on */
	bool exact;	       /* interrupted there, or jumped away: pc is no return address */
	enum ptc_call_how how; /* from the trace: how its function was entered */
	/*
	 * From the trace: an unwinder or longjmp went on here. The trace does not tell which one of
	 * several calls of the function this is.
	 */
	bool landed;
};

struct ptc_crash_stack;

/* Returns the number of frames. */
PTC_API size_t ptc_crash_stack_depth(const struct ptc_crash_stack *s);
/* Returns frame @i; the innermost is 0. Lent as the stack. NULL: there is no such frame. */
PTC_API const struct ptc_crash_frame *ptc_crash_stack_frame(const struct ptc_crash_stack *s,
							    size_t i);
/* Returns whether outermost frames are missing: there are too many, or they were not saved. */
PTC_API bool ptc_crash_stack_is_cut(const struct ptc_crash_stack *s);
/*
 * Returns the file that would give the caller of the outermost frame, but is not available. Lent
 * until the report is freed. NULL: the stack ends for another reason.
 */
PTC_API const char *ptc_crash_stack_ends_in(const struct ptc_crash_stack *s);

#ifdef __cplusplus
}
#endif
#endif
