/* SPDX-License-Identifier: MIT */
/* Description: memory for tables: elements keep their addresses while a table grows. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

#include "decode/engine/huge_table.h"

enum { MAX = 3 << 20 }; /* words: 12 MiB */

static void fill(uint32_t *v, size_t from, size_t to)
{
	for (; from < to; from++)
		v[from] = (uint32_t)from * 7 + 1;
}

static size_t first_wrong(const uint32_t *v, size_t n)
{
	size_t i;

	for (i = 0; i < n && v[i] == (uint32_t)i * 7 + 1; i++)
		;
	return i;
}

Test(huge_table, what_is_in_it_stays_while_it_grows)
{
	uint32_t *v = NULL, *was;
	size_t cap = 0, old;

	do {
		old = cap;
		was = v;
		cr_assert(ptc_fast_table_grow(&v, &cap, cap + 1, sizeof(*v), MAX));
		cr_assert(v);
		cr_expect(!old || v == was, "it moved at %zu", old);
		cr_assert_eq((uintptr_t)v % 64, 0);
		cr_assert_eq(first_wrong(v, old), old);
		fill(v, old, cap);
	} while (cap < MAX);
	cr_expect_eq(cap, MAX);
	cr_expect_not(ptc_fast_table_grow(&v, &cap, (size_t)MAX + 1, sizeof(*v), MAX));
	cr_expect_eq(first_wrong(v, MAX), MAX);
	ptc_fast_table_drop(v, cap, sizeof(*v), MAX);
}

Test(huge_table, more_than_there_can_be_is_refused)
{
	uint64_t *v = NULL;
	size_t cap = 0;

	cr_expect_not(ptc_fast_table_grow(&v, &cap, SIZE_MAX / 8, sizeof(*v), SIZE_MAX / 8));
	cr_expect_null(v);
	cr_expect_null(ptc_fast_room_new(1, SIZE_MAX));
	ptc_fast_table_drop(v, cap, sizeof(*v), MAX);
}

static bool are_zeros(const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n && !p[i]; i++)
		;
	return i == n;
}

Test(huge_table, new_ones_are_zeros_small_or_big)
{
	static const size_t sizes[] = { 64, 100, PTC_FAST_ROOM_MIN - 1, PTC_FAST_ROOM_MIN,
					PTC_FAST_ROOM_MIN * 3 / 2 };
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint8_t *p = ptc_fast_table_new(sizes[i]);

		cr_assert(p);
		cr_expect(are_zeros(p, sizes[i]));
		p[0] = p[sizes[i] - 1] = 1;
		ptc_fast_table_free(p, sizes[i]);
	}
}

Test(huge_table, what_a_room_gains_is_zeros)
{
	const size_t unit = PTC_FAST_ROOM_MIN;
	uint8_t *p = ptc_fast_room_new(unit, 4 * unit);

	cr_assert(p);
	cr_expect_eq((uintptr_t)p % unit, 0);
	p[unit - 1] = 1;
	cr_assert(ptc_fast_room_grow(p, 3 * unit + 1));
	cr_expect(are_zeros(p + unit, 3 * unit));
	cr_expect_eq(p[unit - 1], 1);
	p[4 * unit - 1] = 1;
	ptc_fast_room_free(p, 4 * unit);
}
