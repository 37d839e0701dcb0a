/* SPDX-License-Identifier: MIT */
/*
 * Description: the reach of an overwritten ring is never reported too late, and not much too early.
 */
#include <criterion/criterion.h>

#include "capture/snapshot/ring_reach.h"

enum { SIZE = 4096, STOPS = 20000 };

static uint64_t made_at[STOPS]; /* bytes up to each stop; stop i has the time i, from 1 */

static uint32_t rnd(uint64_t *seed, uint32_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

/* Writes chunks of less than @max bytes. All trace before the reach must be overwritten. */
static void check(uint32_t max, uint64_t seed)
{
	struct ptc_horizon h;
	uint64_t made = 0, i;

	ptc_horizon_init(&h, SIZE, 0);
	for (i = 0; i < STOPS; i++) {
		made += rnd(&seed, max);
		made_at[i] = made;
		ptc_horizon_stop(&h, i + 1, made % SIZE);
		cr_assert_leq(h.n, PTC_HORIZON_STEPS + 2);
		if (h.reach)
			cr_assert_geq(made - made_at[h.reach - 1], SIZE, "stop %lu is in the ring",
				      h.reach);
		if (max > SIZE || made < 2 * (uint64_t)SIZE)
			continue;
		/*
		 * With chunks smaller than the ring no wrap is missed, so the reach is at most two
		 * rings back.
		 */
		cr_assert(h.reach && made - made_at[h.reach - 1] <= 2 * (uint64_t)SIZE,
			  "reaches back to %lu at %lu", h.reach, i + 1);
	}
}

Test(ring_reach, is_never_too_late)
{
	check(2, 1);
	check(64, 2);
	check(SIZE / 3, 3);
	check(SIZE, 4);
	check(5 * SIZE, 5); /* laps that are not seen */
}

Test(ring_reach, a_trace_that_does_not_go_on_stays)
{
	struct ptc_horizon h;
	uint64_t t;

	ptc_horizon_init(&h, SIZE, 100);
	for (t = 1; t < 1000; t++)
		ptc_horizon_stop(&h, t, 100);
	cr_assert(h.n == 1 && h.reach == 0 && h.stops[0].time == 999);
}
