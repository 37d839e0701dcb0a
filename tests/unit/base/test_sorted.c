/* SPDX-License-Identifier: MIT */
/* Description: the binary search finds the same index as a search from the front. */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/sorted.h"

/* A key of its own type, and not the first member: as the arrays of the product. */
struct element {
	char name[3];
	uint64_t key;
};

static size_t lower(const struct element *a, size_t begin, size_t end, uint64_t key)
{
	return PTC_PARTITION_POINT(i, begin, end, a[i].key < key);
}

static size_t upper(const struct element *a, size_t begin, size_t end, uint64_t key)
{
	return PTC_PARTITION_POINT(i, begin, end, a[i].key <= key);
}

static size_t lower_from_the_front(const struct element *a, size_t begin, size_t end, uint64_t key)
{
	while (begin < end && a[begin].key < key)
		begin++;
	return begin;
}

static size_t upper_from_the_front(const struct element *a, size_t begin, size_t end, uint64_t key)
{
	while (begin < end && a[begin].key <= key)
		begin++;
	return begin;
}

/* Returns an array that ends where its memory ends, so ASan sees a read behind it. */
static struct element *array(const uint64_t *keys, size_t n)
{
	struct element *a = malloc(n ? n * sizeof(*a) : 1);
	size_t i;

	cr_assert_not_null(a);
	for (i = 0; i < n; i++)
		a[i] = (struct element){ "ab", keys[i] };
	return a;
}

/* Returns whether both bounds are right in all ranges of the array. */
static bool is_right(const uint64_t *keys, size_t n, uint64_t key)
{
	struct element *a = array(keys, n);
	size_t begin, end;
	bool right = true;

	for (begin = 0; begin <= n; begin++)
		for (end = begin; end <= n; end++)
			right = right &&
				lower(a, begin, end, key) ==
					lower_from_the_front(a, begin, end, key) &&
				upper(a, begin, end, key) ==
					upper_from_the_front(a, begin, end, key);
	free(a);
	return right;
}

Test(sorted, empty_range_gives_its_begin)
{
	cr_expect_eq(PTC_PARTITION_POINT(i, 0, 0, i < 9), 0);
	cr_expect_eq(PTC_PARTITION_POINT(i, 7, 7, i < 9), 7);
	cr_expect_eq(PTC_PARTITION_POINT(i, SIZE_MAX, SIZE_MAX, i == 0), SIZE_MAX);
}

Test(sorted, begin_behind_end_gives_the_begin)
{
	cr_expect_eq(PTC_PARTITION_POINT(i, 1, 0, i < 9), 1);
	cr_expect_eq(PTC_PARTITION_POINT(i, SIZE_MAX, 0, i == 0), SIZE_MAX);
}

Test(sorted, one_element)
{
	static const uint64_t keys[] = { 5 };
	struct element *a = array(keys, 1);

	cr_expect_eq(lower(a, 0, 1, 4), 0);
	cr_expect_eq(lower(a, 0, 1, 5), 0);
	cr_expect_eq(lower(a, 0, 1, 6), 1);
	cr_expect_eq(upper(a, 0, 1, 4), 0);
	cr_expect_eq(upper(a, 0, 1, 5), 1);
	cr_expect_eq(upper(a, 0, 1, 6), 1);
	free(a);
}

Test(sorted, equal_keys_have_a_first_and_a_last)
{
	static const uint64_t keys[] = { 1, 5, 5, 5, 8 };
	struct element *a = array(keys, 5);

	cr_expect_eq(lower(a, 0, 5, 5), 1);
	cr_expect_eq(upper(a, 0, 5, 5), 4);
	cr_expect_eq(lower(a, 2, 4, 5), 2, "the range begins inside the equal keys");
	cr_expect_eq(upper(a, 2, 3, 5), 3, "the range ends inside the equal keys");
	free(a);
}

Test(sorted, lowest_and_highest_key)
{
	static const uint64_t keys[] = { 0, 0, 1, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX };
	struct element *a = array(keys, 6);

	cr_expect_eq(lower(a, 0, 6, 0), 0);
	cr_expect_eq(upper(a, 0, 6, 0), 2);
	cr_expect_eq(lower(a, 0, 6, UINT64_MAX), 4);
	cr_expect_eq(upper(a, 0, 6, UINT64_MAX), 6);
	free(a);
	cr_expect(is_right(keys, 6, 0));
	cr_expect(is_right(keys, 6, 1));
	cr_expect(is_right(keys, 6, 2));
	cr_expect(is_right(keys, 6, UINT64_MAX - 1));
	cr_expect(is_right(keys, 6, UINT64_MAX));
}

/* Each step of the keys is 0 (an equal key) or 2, so odd numbers lie between the keys. */
Test(sorted, all_arrays_up_to_nine_elements)
{
	uint64_t keys[9] = { 0 }, key;
	unsigned int steps;
	size_t n, i;

	for (n = 0; n <= 9; n++)
		for (steps = 0; steps < 1U << n; steps++) {
			for (key = 0, i = 0; i < n; i++)
				keys[i] = key += steps >> i & 1 ? 2 : 0;
			for (key = 0; key <= 2 * n + 1; key++)
				if (!is_right(keys, n, key))
					cr_assert(false, "%zu elements, steps %#x, key %zu", n,
						  steps, (size_t)key);
		}
}

Test(sorted, signed_keys)
{
	static const int32_t tids[] = { INT32_MIN, -1, 0, 7, INT32_MAX };

	cr_expect_eq(PTC_PARTITION_POINT(i, 0, 5, tids[i] < -1), 1);
	cr_expect_eq(PTC_PARTITION_POINT(i, 0, 5, tids[i] <= -1), 2);
	cr_expect_eq(PTC_PARTITION_POINT(i, 0, 5, tids[i] <= INT32_MAX), 5);
}

/* Counts the steps of a search. Ends the test before a search that would not end. */
static bool step(unsigned int *steps, bool before)
{
	cr_assert_leq(++*steps, 64);
	return before;
}

Test(sorted, largest_range_needs_at_most_64_steps)
{
	static const size_t ats[] = { 0,
				      1,
				      2,
				      SIZE_MAX / 2 - 1,
				      SIZE_MAX / 2,
				      SIZE_MAX / 2 + 1,
				      SIZE_MAX - 2,
				      SIZE_MAX - 1,
				      SIZE_MAX };
	unsigned int steps;
	size_t k;

	for (k = 0; k < sizeof(ats) / sizeof(ats[0]); k++) {
		steps = 0;
		cr_expect_eq(PTC_PARTITION_POINT(i, 0, SIZE_MAX, step(&steps, i < ats[k])), ats[k]);
	}
}

Test(sorted, wrong_order_gives_an_index_of_the_range)
{
	static const uint64_t keys[] = { 9, 2, 7, 1, 8, 3 };
	struct element *a = array(keys, 6);
	uint64_t key;

	for (key = 0; key <= 10; key++) {
		cr_expect_geq(lower(a, 1, 5, key), 1);
		cr_expect_leq(lower(a, 1, 5, key), 5);
	}
	free(a);
}

static size_t evaluated;

static size_t once(size_t value)
{
	evaluated++;
	return value;
}

Test(sorted, bounds_are_evaluated_once)
{
	cr_expect_eq(PTC_PARTITION_POINT(i, once(2), once(900), i < 500), 500);
	cr_expect_eq(evaluated, 2);
}
