/* SPDX-License-Identifier: MIT */
/* Description: TSC packets are converted to perf time. */
#include <criterion/criterion.h>

#include "decode/stream/tsc_clock.h"
#include "ptcap/decode.h"

Test(tsc_clock, the_top_byte_comes_from_the_nearest_whole_tsc)
{
	cr_assert_eq(ptc_tsc_extend(0x123, 0), 0x123);
	cr_assert_eq(ptc_tsc_extend(0x00000000000123, 0x0500000000000456), 0x0500000000000123);
	/*
	 * The packet was written before the low bytes wrapped; the reference was read after that.
	 */
	cr_assert_eq(ptc_tsc_extend(0xffffffffffff00, 0x0500000000000010), 0x04ffffffffffff00);
	/* And the other way round: the reference was read before that. */
	cr_assert_eq(ptc_tsc_extend(0x00000000000010, 0x05ffffffffffff00), 0x0600000000000010);
	/* The top byte never becomes negative. */
	cr_assert_eq(ptc_tsc_extend(0xffffffffffff00, 0x10), 0xffffffffffff00);
}

Test(tsc_clock, without_a_conversion_there_is_no_time)
{
	const struct ptc_tsc_clock none = { .valid = false };
	const struct ptc_tsc_clock c = { .valid = true,
					 .conv = { .shift = 1, .mult = 3, .zero = 100 } };

	cr_assert_eq(ptc_tsc_clock_ns(&none, 5, 0), PTC_NO_TIME);
	cr_assert_eq(ptc_tsc_clock_ns(&c, 10, 0), 115);
}
