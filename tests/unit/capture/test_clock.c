/* SPDX-License-Identifier: MIT */
/* Description: TSC ticks convert to nanoseconds precisely and never run backwards. */
#include <criterion/criterion.h>

#include "capture/host/clock.h"

Test(clock, the_scale_is_exact_to_a_part_in_a_billion)
{
	static const uint64_t hz[] = { 1000000,	   999999937,  1000000000,
				       2596991000, 3000000000, 5123456789 };
	size_t i;

	for (i = 0; i < sizeof(hz) / sizeof(hz[0]); i++) {
		struct ptc_time_conv tc = { 0 };
		uint64_t ns;

		ptc_clock_scale(hz[i], &tc);
		cr_assert_leq(tc.shift, 31);
		ns = ptc_tsc_to_ns(&tc, 1000 * hz[i]); /* after 1000 seconds */
		cr_assert_leq(ns, 1000000000000ull);
		cr_assert_geq(ns, 1000000000000ull - 3000, "%llu Hz: %llu",
			      (unsigned long long)hz[i], (unsigned long long)ns);
	}
}

Test(clock, time_goes_forwards_at_the_rate_of_the_clock)
{
	struct ptc_clock c;
	uint64_t a, b;

	ptc_clock_init(&c);
	cr_assert_gt(c.tsc_hz, 100000000ull);
	cr_assert_gt(c.conv.mult, 0);
	a = ptc_clock_ns(&c);
	b = ptc_clock_ns(&c);
	cr_assert_geq(b, a);
	cr_assert_lt(b - a, 10000000000ull);
}
