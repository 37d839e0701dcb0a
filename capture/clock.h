/* SPDX-License-Identifier: MIT */
/*
 * The clock that all records of a recording are stamped with: the TSC,
 * converted to nanoseconds the way perf converts it.
 */
#ifndef PTC_CAPTURE_CLOCK_H
#define PTC_CAPTURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "auxtrace/pt_info.h"

struct ptc_clock {
	struct ptc_time_conv conv;
	uint64_t tsc_hz; /* TSC ticks a second */
	bool kernel;	 /* conv is the kernel's own (cap_user_time_zero), else ours */
};

static inline uint64_t ptc_rdtsc(void)
{
	return __builtin_ia32_rdtsc();
}

/*
 * Read shift, mult and zero from a perf mmap page (timepage.h). Where the
 * kernel does not offer them (cap_user_time_zero is 0 on many VMs), the TSC is
 * measured against CLOCK_MONOTONIC_RAW for some 20 ms and they are made up to
 * continue that clock. Always succeeds.
 */
void ptc_clock_init(struct ptc_clock *c);

/*
 * For a source whose records are all its own: continue CLOCK_MONOTONIC, which JITs use for what
 * they write, at the rate that the kernel or 20 ms say. It is not the kernel's own clock then.
 */
void ptc_clock_init_monotonic(struct ptc_clock *c);

/* One moment by the clock of @conv and by CLOCK_MONOTONIC, in ns. */
void ptc_clock_pair(const struct ptc_time_conv *conv, uint64_t *ret_ns, uint64_t *ret_monotonic_ns);

/*
 * The mult and shift with which @hz ticks make 1e9 ns, as exact as 32 bits
 * allow. For tests; ptc_clock_init uses it.
 */
void ptc_clock_scale(uint64_t hz, struct ptc_time_conv *ret);

/* Now, in ns of this clock. */
static inline uint64_t ptc_clock_ns(const struct ptc_clock *c)
{
	return ptc_tsc_to_ns(&c->conv, ptc_rdtsc());
}

#endif
