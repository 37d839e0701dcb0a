/* SPDX-License-Identifier: MIT */
/* Description: growing arrays keep their values, and overflow is refused. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/*
 * ASan reads this at start: an impossible size then returns NULL, as without ASan, and does not
 * abort.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

Test(vec, values_stay_while_it_grows)
{
	void *items = NULL;
	size_t cap = 0, i;

	for (i = 0; i < 1000; i++) {
		cr_assert(ptc_vec_reserve(&items, &cap, i + 1, sizeof(uint64_t)));
		cr_assert_gt(cap, i);
		((uint64_t *)items)[i] = i * i;
	}
	for (i = 0; i < 1000; i++)
		cr_assert_eq(((uint64_t *)items)[i], i * i);
	free(items);
}

Test(vec, room_that_is_there_changes_nothing)
{
	void *items = NULL, *before;
	size_t cap = 0, was;

	cr_assert(ptc_vec_reserve(&items, &cap, 20, 8));
	before = items;
	was = cap;
	cr_assert(ptc_vec_reserve(&items, &cap, was, 8));
	cr_assert(ptc_vec_reserve(&items, &cap, 0, 8));
	cr_assert_eq(items, before);
	cr_assert_eq(cap, was);
	free(items);
}

Test(vec, sizes_that_overflow_are_refused)
{
	void *items = NULL;
	size_t cap = 0;

	cr_assert_not(ptc_vec_reserve(&items, &cap, SIZE_MAX, 1));
	cr_assert_not(ptc_vec_reserve(&items, &cap, SIZE_MAX / 4, 64));
	cr_assert_null(items);
	cr_assert_eq(cap, 0);
}

Test(vec, lines_are_lines_of_the_cache_and_stay_while_they_grow)
{
	void *items = NULL;
	size_t cap = 0, i;

	for (i = 0; i < 1000; i++) {
		/* Shift the heap, so that the array is not aligned by chance. */
		void *odd = malloc(16 * (i % 4) + 1);

		cr_assert(ptc_vec_reserve_lines(&items, &cap, i + 1));
		cr_assert_gt(cap, i);
		cr_assert_eq((uintptr_t)items % PTC_VEC_LINE, 0, "%zu", i);
		memset((uint8_t *)items + i * PTC_VEC_LINE, (int)i, PTC_VEC_LINE);
		free(odd);
	}
	for (i = 0; i < 1000; i++) {
		cr_assert_eq(((uint8_t *)items)[i * PTC_VEC_LINE], (uint8_t)i);
		cr_assert_eq(((uint8_t *)items)[(i + 1) * PTC_VEC_LINE - 1], (uint8_t)i);
	}
	cr_assert_not(ptc_vec_reserve_lines(&items, &cap, SIZE_MAX / 4));
	cr_assert_geq(cap, 1000);
	free(items);
}
