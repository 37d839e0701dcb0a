/* SPDX-License-Identifier: MIT */
/*
 * The clock of all time stamps in a recording: the TSC, converted to nanoseconds as perf converts
 * it.
 */
#ifndef PTC_CAPTURE_HOST_CLOCK_H
#define PTC_CAPTURE_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "auxtrace/record/auxtrace_info.h"

struct ptc_clock {
	struct ptc_time_conv conv;
	uint64_t tsc_hz; /* TSC ticks per second */
	bool kernel;	 /* conv comes from the kernel (cap_user_time_zero); false: measured */
};

static inline uint64_t ptc_rdtsc(void)
{
	return __builtin_ia32_rdtsc();
}

/*
 * Reads shift, mult and zero from a perf mmap page (timepage.h). Many VMs do not offer them
 * (cap_user_time_zero is 0). There the TSC is compared with CLOCK_MONOTONIC_RAW for about 20 ms,
 * and the result continues that clock. Always succeeds.
 */
void ptc_clock_init(struct ptc_clock *c);

/*
 * For a source that writes all records itself. The clock continues CLOCK_MONOTONIC, which JITs use
 * for their jitdump files. The rate is the kernel's, or is measured in 20 ms. c->kernel is then
 * false.
 */
void ptc_clock_init_monotonic(struct ptc_clock *c);

/* Reads the clock of @conv and CLOCK_MONOTONIC at the same moment, in ns. */
void ptc_clock_pair(const struct ptc_time_conv *conv, uint64_t *ret_ns, uint64_t *ret_monotonic_ns);

/*
 * Computes the mult and shift that convert @hz ticks to 1e9 ns, as exactly as 32 bits allow.
 * ptc_clock_init uses it; public for tests.
 */
void ptc_clock_scale(uint64_t hz, struct ptc_time_conv *ret);

/* Returns the current time of this clock in ns. */
static inline uint64_t ptc_clock_ns(const struct ptc_clock *c)
{
	return ptc_tsc_to_ns(&c->conv, ptc_rdtsc());
}

#endif
