/* SPDX-License-Identifier: MIT */
/* The monotonic clock. */
#ifndef PTC_BASE_MONOTONIC_H
#define PTC_BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

/* Returns the time of CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t ptc_monotonic_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#endif
