/* SPDX-License-Identifier: MIT */
/* Finds threads that wait for each other in a circle. */
#ifndef PTC_DECODE_STACKS_DEADLOCK_H
#define PTC_DECODE_STACKS_DEADLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/error.h"

#define PTC_WAITS_FOR_NONE SIZE_MAX

/* The circles: threads[begin of circle i .. begin of circle i + 1), each waits for the next. */
struct ptc_deadlocks {
	size_t *threads; /* owned; numbers of threads */
	size_t *begins;	 /* owned; n + 1 elements */
	size_t n;
};

/*
 * @waits_for[i]: number of the thread that thread i waits for; PTC_WAITS_FOR_NONE: none. It may be
 * i itself. A circle begins with its lowest number. @ret starts zeroed, and the caller releases it.
 */
int ptc_deadlocks_find(const size_t *waits_for, size_t n, struct ptc_deadlocks *ret,
		       struct ptc_err *err);
void ptc_deadlocks_release(struct ptc_deadlocks *d);

#endif
