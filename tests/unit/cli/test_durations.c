/* SPDX-License-Identifier: MIT */
/* Description: percentiles of durations, compared with sorted values; numbers in seven columns. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/amount.h"
#include "cli/report/durations.h"

enum { SETS = 3, VALUES = 5000 };

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Returns numbers of all sizes. */
static uint64_t next_value(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> (*state >> 58);
}

Test(durations, a_percentile_is_at_most_a_64th_too_high)
{
	static uint64_t values[SETS][VALUES];
	static const unsigned int percents[] = { 1, 50, 99, 100 };
	struct ptc_durations d = { .n = 0 };
	uint64_t state = 1, exact, got;
	size_t set, i;

	for (i = 0; i < VALUES; i++)
		for (set = 0; set < SETS; set++) {
			values[set][i] = next_value(&state);
			cr_assert(ptc_durations_add(&d, set * 7, values[set][i]));
		}
	ptc_durations_sort(&d);
	for (set = 0; set < SETS; set++) {
		qsort(values[set], VALUES, sizeof(uint64_t), by_value);
		for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
			exact = values[set][VALUES / 100 * percents[i] - 1];
			got = ptc_durations_percentile(&d, set * 7, VALUES, percents[i]);
			cr_assert(got >= exact && got - exact <= exact / 64, "%u%%: %lu, not %lu",
				  percents[i], got, exact);
		}
	}
	ptc_durations_release(&d);
}

Test(durations, small_and_extreme_values_have_their_buckets)
{
	static const uint64_t values[] = { 0, 1, 63, 64, 127, UINT64_MAX };
	struct ptc_durations d = { .n = 0 };
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		cr_assert(ptc_durations_add(&d, i, values[i]));
	cr_assert(ptc_durations_add(&d, 0, 0));
	ptc_durations_sort(&d);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		cr_assert_eq(ptc_durations_percentile(&d, i, 1 + !i, 99), values[i]);
	cr_assert_eq(ptc_durations_percentile(&d, 0, 0, 99), 0);
	cr_assert_eq(ptc_durations_percentile(&d, 99, 1, 99), 0, "a set without values");
	ptc_durations_release(&d);
}

static void hold_amount(uint64_t n, bool is_time, const char *want)
{
	char text[PTC_AMOUNT_ROOM];

	ptc_amount(text, n, is_time);
	cr_assert_str_eq(text, want);
	cr_assert_leq(strlen(text), 7, "%s", text);
}

Test(amount, numbers_take_seven_columns)
{
	hold_amount(0, false, "0");
	hold_amount(999999, false, "999999");
	hold_amount(1000000, false, "1.000M");
	hold_amount(9999999, false, "9.999M");
	hold_amount(12345678, false, "12.34M");
	hold_amount(999999999, false, "999.9M");
	hold_amount(1000000000, false, "1.000G");
	hold_amount(UINT64_MAX, false, "18.44E");
	hold_amount(0, true, "0ns");
	hold_amount(999, true, "999ns");
	hold_amount(1000, true, "1.000us");
	hold_amount(999999, true, "999.9us");
	hold_amount(12345678, true, "12.34ms");
	hold_amount(3600000000000, true, "3600s");
	hold_amount(999999999999999, true, "999999s");
}
