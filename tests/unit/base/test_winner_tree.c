/* SPDX-License-Identifier: MIT */
/* Description: the entry with the least time, and the next one, equal those of a linear search. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/winner_tree.h"

enum { ENTRIES_MAX = 70, CHANGES = 2000 };

static struct ptc_least t;
static uint64_t times[ENTRIES_MAX];
static bool has[ENTRIES_MAX];

static void release(void)
{
	ptc_least_release(&t);
}

TestSuite(winner_tree, .fini = release);

/* Returns the first entry with the least time, except @but; PTC_LEAST_NONE: none. */
static ptrdiff_t look(size_t n, ptrdiff_t but)
{
	ptrdiff_t best = PTC_LEAST_NONE;
	size_t i;

	for (i = 0; i < n; i++)
		if (has[i] && (ptrdiff_t)i != but &&
		    (best == PTC_LEAST_NONE || times[i] < times[best]))
			best = (ptrdiff_t)i;
	return best;
}

static void expect_as_by_looking(size_t n)
{
	const ptrdiff_t first = look(n, PTC_LEAST_NONE);
	const ptrdiff_t second = first == PTC_LEAST_NONE ? first : look(n, first);
	uint64_t time;

	cr_assert_eq(ptc_least_first(&t, &time), first);
	cr_assert_eq(time, first == PTC_LEAST_NONE ? UINT64_MAX : times[first]);
	cr_assert_eq(ptc_least_second(&t, &time), second);
	cr_assert_eq(time, second == PTC_LEAST_NONE ? UINT64_MAX : times[second]);
}

Test(winner_tree, any_number_of_entries_and_any_changes)
{
	static const uint64_t some[] = { 0, 1, 1, 2, 3, 500, UINT64_MAX - 1, UINT64_MAX };
	size_t n, k, i;

	srand(7);
	for (n = 0; n <= ENTRIES_MAX; n = n < 9 ? n + 1 : n + 61) {
		cr_assert(ptc_least_init(&t, n));
		for (i = 0; i < n; i++)
			has[i] = false;
		expect_as_by_looking(n);
		for (k = 0; n && k < CHANGES; k++) {
			i = (size_t)rand() % n;
			has[i] = rand() % 3;
			times[i] = some[(size_t)rand() % (sizeof(some) / sizeof(*some))];
			if (has[i])
				ptc_least_set(&t, i, times[i]);
			else
				ptc_least_clear(&t, i);
			expect_as_by_looking(n);
		}
		release();
	}
}
