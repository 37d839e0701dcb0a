/* SPDX-License-Identifier: MIT */
/*
 * Description: every position of a stack is found, and no other, also in loops. The result is
 * compared with a check of each position.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "decode/lbr/kmp.h"

enum { STEPS = 64, SEEDS = 2000 };

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1;
	return *state >> 33;
}

/* Returns true if the steps from @end back equal the stack. */
static bool is_at(const struct ptc_branch *e, size_t n, const struct ptc_step *s, size_t end)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (end < i || s[end - i].flags & PTC_STEP_GAP ||
		    !ptc_kmp_is_same(&e[i], &s[end - i]))
			return false;
	return true;
}

static void check(const struct ptc_branch *e, size_t n, const struct ptc_step *s)
{
	bool found[STEPS] = { false };
	struct ptc_kmp x;
	size_t i, k;

	ptc_kmp_init(&x, e, n);
	for (i = STEPS; i--;) {
		if (s[i].flags & PTC_STEP_GAP) {
			ptc_kmp_cut(&x);
			continue;
		}
		if (!ptc_kmp_cares(&x, &s[i]) || !ptc_kmp_feed(&x, &s[i], i))
			continue;
		found[ptc_kmp_at(&x, 0)] = true;
		for (k = 0; k < n; k++)
			cr_assert_eq(ptc_kmp_at(&x, k), i + n - 1 - k);
	}
	for (i = 0; i < STEPS; i++)
		cr_assert_eq(found[i], is_at(e, n, s, i), "%zu entries, step %zu", n, i);
}

Test(kmp, all_places_are_found_and_no_other)
{
	struct ptc_step steps[STEPS];
	struct ptc_branch *e;
	uint64_t seed, r, i;

	for (seed = 0; seed < SEEDS; seed++) {
		/* On the heap, so that a sanitizer sees a read past the end. */
		const size_t n = 1 + seed % 9;

		e = calloc(n, sizeof(*e));
		cr_assert(e);
		r = seed;
		for (i = 0; i < n; i++)
			e[i].from = e[i].to = 1 + next_random(&r) % 2;
		for (i = 0; i < STEPS; i++) {
			const uint64_t at = 1 + next_random(&r) % 2;

			steps[i] = (struct ptc_step){ .from = at, .to = at };
			if (!(next_random(&r) % 20))
				steps[i] = (struct ptc_step){ .flags = PTC_STEP_GAP };
		}
		check(e, n, steps);
		free(e);
	}
}
