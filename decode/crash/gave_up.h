/* SPDX-License-Identifier: MIT */
/* Finds out about a process that ended itself: which code of the program did it, and why. */
#ifndef PTC_DECODE_CRASH_GAVE_UP_H
#define PTC_DECODE_CRASH_GAVE_UP_H

struct ptc_crash_report;

/*
 * If the thread sent itself the signal, with abort() or raise(), find the frame that gave up, the
 * messages of the runtime, and where the exception was thrown. The stacks of @r are known.
 */
void ptc_crash_find_who_gave_up(struct ptc_crash_report *r);

#endif
