/* SPDX-License-Identifier: MIT */
/*
 * When events that were switched on are switched on again: a thread may be born as its maker was
 * before, so long after the request as its birth takes (set.c says how).
 */
#ifndef PTC_CAPTURE_PERF_AGAIN_H
#define PTC_CAPTURE_PERF_AGAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "ptcap/error.h"

struct ptc_again {
	int fd;	     /* a timerfd, readable when it is time; -1: not open */
	size_t pass; /* which comes next */
};

#define PTC_AGAIN_INIT                                                                             \
	{                                                                                          \
		-1, 0                                                                              \
	}

/* To be released, whatever is returned. */
int ptc_again_open(struct ptc_again *a, struct ptc_err *err);
void ptc_again_release(struct ptc_again *a);

/*
 * Events were switched on: it is time 10 ms, 100 ms and 1 s from now. The first of them is not put
 * off by those that are switched on meanwhile. Nothing happens if it is not open.
 */
void ptc_again_begin(struct ptc_again *a);

/* Is it time? Said once each time. */
bool ptc_again_due(struct ptc_again *a);

#endif
