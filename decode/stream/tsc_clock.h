/* SPDX-License-Identifier: MIT */
/* Converts TSC packets to perf time. */
#ifndef PTC_DECODE_STREAM_TSC_CLOCK_H
#define PTC_DECODE_STREAM_TSC_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "auxtrace/record/auxtrace_info.h"

struct ptc_tsc_clock {
	bool valid; /* the trace has TSC packets, and they can be converted */
	struct ptc_time_conv conv;
};

/*
 * Extend the 7 bytes of a TSC packet. The top byte comes from @reference, a full TSC read near that
 * time (0: unknown). Near means within half of 2^56 ticks.
 */
uint64_t ptc_tsc_extend(uint64_t tsc, uint64_t reference);

/* Returns ns of the perf clock, or PTC_NO_TIME. */
uint64_t ptc_tsc_clock_ns(const struct ptc_tsc_clock *c, uint64_t tsc, uint64_t reference);

#endif
