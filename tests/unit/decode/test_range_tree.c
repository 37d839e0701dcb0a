/* SPDX-License-Identifier: MIT */
/* Description: ranges of addresses in a tree whose copies share its nodes. */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/image/range_tree.h"

enum { SPACE = 256, COPIES = 8 };

static uint8_t text[SPACE];

static struct ptc_range at(uint64_t start, uint64_t len)
{
	return (struct ptc_range){ .start = start, .end = start + len, .bytes = text };
}

/* @model: for each address the offset in the text + 1; 0: nothing. */
static void expect(const struct ptc_ranges *t, const uint16_t *model, int round)
{
	const struct ptc_range *r, *prev = NULL;
	size_t n = 0;
	uint64_t i;

	for (i = 0; i < SPACE; i++) {
		r = ptc_ranges_from(t, i);
		cr_assert_eq(r && r->start <= i ? r->off + (i - r->start) + 1 : 0, model[i],
			     "round %d, address %lu", round, (unsigned long)i);
	}
	for (r = ptc_ranges_from(t, 0); r; prev = r, r = ptc_ranges_next(t, r), n++)
		cr_assert(r->start < r->end && (!prev || prev->end <= r->start));
	cr_assert_eq(n, ptc_ranges_count(t));
}

Test(range_tree, changes_of_one_copy_are_not_seen_in_others)
{
	static uint16_t models[COPIES][SPACE];
	struct ptc_ranges copies[COPIES] = { { NULL } };
	uint64_t seed = 1, k;
	int round;

	for (round = 0; round < 4000; round++) {
		struct ptc_range r;
		size_t i, one;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		one = seed >> 33 & (COPIES - 1);
		r = at(seed >> 36 & 127, (seed >> 43 & (round % 20 ? 7 : 127)) + 1);
		r.off = seed >> 50 & 63;
		if (seed >> 60 == 0) { /* a copy of another one */
			i = seed >> 56 & (COPIES - 1);
			if (i == one)
				continue;
			ptc_ranges_release(&copies[one]);
			ptc_ranges_copy(&copies[one], &copies[i]);
			memcpy(models[one], models[i], sizeof(models[i]));
		} else if (seed >> 60 < 5) {
			cr_assert(ptc_ranges_drop(&copies[one], r.start, r.end));
			memset(models[one] + r.start, 0, (r.end - r.start) * sizeof(models[0][0]));
		} else {
			cr_assert(ptc_ranges_put(&copies[one], &r));
			for (k = r.start; k < r.end; k++)
				models[one][k] = (uint16_t)(r.off + (k - r.start) + 1);
		}
		for (i = 0; i < COPIES; i++)
			expect(&copies[i], models[i], round);
	}
	for (k = 0; k < COPIES; k++)
		ptc_ranges_release(&copies[k]);
}

Test(range_tree, what_covers_all_replaces_all)
{
	struct ptc_ranges t = { NULL };
	struct ptc_range r;
	uint64_t i;

	for (i = 0; i < 1000; i++) {
		r = at(2 * i, 1);
		cr_assert(ptc_ranges_put(&t, &r));
	}
	cr_assert_eq(ptc_ranges_count(&t), 1000);
	r = (struct ptc_range){ .start = 0, .end = UINT64_MAX, .bytes = text };
	cr_assert(ptc_ranges_put(&t, &r));
	cr_assert_eq(ptc_ranges_count(&t), 1);
	cr_assert_null(ptc_ranges_next(&t, ptc_ranges_from(&t, 0)));
	cr_assert(ptc_ranges_drop(&t, 0, UINT64_MAX));
	cr_assert_null(ptc_ranges_from(&t, 0));
	ptc_ranges_release(&t);
}
