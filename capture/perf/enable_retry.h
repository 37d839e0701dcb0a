/* SPDX-License-Identifier: MIT */
/*
 * Repeats the enabling of events after a delay. A new thread may inherit the state its parent had
 * before the ioctl, until its creation is complete (event_set.c has the details).
 */
#ifndef PTC_CAPTURE_PERF_ENABLE_RETRY_H
#define PTC_CAPTURE_PERF_ENABLE_RETRY_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/error.h"

struct ptc_again {
	int fd;	     /* a timerfd, readable when a repetition is due; -1: not open */
	size_t pass; /* index of the next repetition */
};

#define PTC_AGAIN_INIT                                                                             \
	{                                                                                          \
		-1, 0                                                                              \
	}

/* Call ptc_again_release also after a failure. */
int ptc_again_open(struct ptc_again *a, struct ptc_err *err);
void ptc_again_release(struct ptc_again *a);

/*
 * Events were enabled: repeat after 10 ms, 100 ms and 1 s. Further calls do not delay the first
 * repetition. Does nothing if @a is not open.
 */
void ptc_again_begin(struct ptc_again *a);

/* Returns true once for each repetition that is due. */
bool ptc_again_due(struct ptc_again *a);

#endif
