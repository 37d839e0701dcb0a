/* SPDX-License-Identifier: MIT */
/* Description: the calls of a file of limited size: short ones are merged, and none is lost. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cli/timeline/kept_calls.h"

enum { FIXED = 100, NAME = 24, FUNCTIONS = 40 };

static uint64_t cost(void *ctx, uint32_t function, uint64_t *ret_each)
{
	(void)ctx;
	*ret_each = function % 7 == 6 ? 16 : 0;
	return *ret_each ? 0 : NAME;
}

static struct ptc_kept_calls begin(uint64_t limit)
{
	return (struct ptc_kept_calls){
		.limit = limit, .cost_of = cost, .bytes = FIXED, .fixed = FIXED
	};
}

/* Enters and leaves functions at random in several threads. Returns the number of calls. */
static uint64_t walk(struct ptc_kept_calls *k, unsigned int seed, size_t events, uint32_t threads)
{
	uint64_t place = 1, calls = 0;
	uint32_t depth[4] = { 0 }, thread;
	size_t i;

	for (i = 0; i < events; i++) {
		thread = (uint32_t)rand_r(&seed) % threads;
		place += (uint64_t)rand_r(&seed) % 50;
		if (depth[thread] && rand_r(&seed) % 2) {
			cr_assert(ptc_kept_leave(k, thread, place));
			depth[thread]--;
		} else if (!depth[thread] && rand_r(&seed) % 16 == 0) {
			cr_assert(ptc_kept_gap(k, thread, PTC_GAP_LOST, 8, place));
		} else {
			cr_assert(ptc_kept_enter(k, thread, (uint32_t)rand_r(&seed) % FUNCTIONS,
						 PTC_CALL_BY_CALL, place));
			depth[thread]++;
			calls++;
		}
	}
	for (thread = 0; thread < threads; thread++)
		while (depth[thread]--)
			cr_assert(ptc_kept_leave(k, thread, place));
	ptc_kept_finish(k);
	return calls;
}

/* Checks the order and the nesting. Returns the calls that are kept, and adds the merged ones. */
static uint64_t count_kept(const struct ptc_kept_calls *k, uint64_t *merged, uint64_t *gaps)
{
	uint64_t kept = 0;
	size_t i, j;

	for (i = 0; i < k->nthreads; i++) {
		const struct ptc_kept_thread *t = &k->threads[i];

		*merged += t->merged;
		for (j = 0; j < t->n; j++) {
			const struct ptc_kept_call *c = &t->calls[j];

			cr_assert(!j || t->calls[j - 1].begin <= c->begin);
			if (c->function >= PTC_KEPT_GAP) {
				*gaps += 1 + c->merged;
				continue;
			}
			cr_assert(ptc_kept_has(k, c->function));
			cr_assert(c->end - c->begin >= k->threshold);
			cr_assert(!c->depth || t->calls[j - 1].depth + 1 >= c->depth);
			*merged += c->merged;
			kept++;
		}
	}
	return kept;
}

Test(kept_calls, no_call_is_lost_and_no_file_is_too_large)
{
	static const uint64_t limits[] = { 1 << 30, 40000, 20000, 5000, 2000, 0 };
	uint64_t before = UINT64_MAX, gaps_before = 0;
	size_t i;

	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct ptc_kept_calls k = begin(limits[i]);
		uint64_t merged = 0, gaps = 0;
		const uint64_t calls = walk(&k, 7, 4000, 4);
		const uint64_t kept = count_kept(&k, &merged, &gaps);

		cr_assert_eq(kept + merged, calls);
		cr_assert(k.calls == calls && k.merged == merged);
		cr_assert(k.bytes <= k.limit || !kept);
		cr_assert(kept <= before);
		cr_assert(!i || gaps == gaps_before, "gaps are merged, not lost");
		before = kept;
		gaps_before = gaps;
		ptc_kept_release(&k);
	}
	cr_assert_eq(before, 0);
}

Test(kept_calls, a_deep_stack_that_does_not_fit_yet_merges_no_long_call)
{
	struct ptc_kept_calls k = begin(4000);
	uint32_t i;

	for (i = 0; i < 1000; i++)
		cr_assert(ptc_kept_enter(&k, 0, 0, PTC_CALL_BY_CALL, i));
	for (i = 0; i < 1000; i++)
		cr_assert(ptc_kept_leave(&k, 0, 1000 + i));
	ptc_kept_finish(&k);
	cr_assert(k.bytes <= k.limit && k.bytes > k.limit / 2, "%lu", (unsigned long)k.bytes);
	cr_assert_eq(k.threads[0].calls[0].end, 1999);
	ptc_kept_release(&k);
}

/* The gap is inside of a short call, which is inside of a long one. */
Test(kept_calls, a_gap_inside_of_open_calls_stays_when_they_are_merged)
{
	struct ptc_kept_calls k = begin(1 << 30);
	const struct ptc_kept_thread *t;
	uint64_t merged = 0, gaps = 0;

	k.threshold = 100;
	cr_assert(ptc_kept_enter(&k, 0, 0, PTC_CALL_BY_CALL, 1));
	cr_assert(ptc_kept_enter(&k, 0, 1, PTC_CALL_BY_CALL, 10));
	cr_assert(ptc_kept_gap(&k, 0, PTC_GAP_LOST, 8, 20));
	cr_assert(ptc_kept_enter(&k, 0, 2, PTC_CALL_BY_CALL, 21));
	cr_assert(ptc_kept_leave(&k, 0, 22));
	cr_assert(ptc_kept_leave(&k, 0, 30));
	t = &k.threads[0];
	cr_assert_eq(t->n, 2);
	cr_assert(t->calls[0].function == 0 && t->calls[1].function == PTC_KEPT_GAP + PTC_GAP_LOST);
	cr_assert(t->calls[1].begin == 20 && t->calls[1].end == 8);
	cr_assert(ptc_kept_enter(&k, 0, 1, PTC_CALL_BY_CALL, 200));
	cr_assert(ptc_kept_leave(&k, 0, 300));
	cr_assert(ptc_kept_leave(&k, 0, 20000));
	cr_assert_eq(count_kept(&k, &merged, &gaps), 2);
	cr_assert(merged == 2 && gaps == 1);

	/* The call behind the gap is merged into the call around both. */
	k.limit = k.bytes - 1;
	ptc_kept_finish(&k);
	cr_assert_eq(t->calls[0].merged, 3);
	cr_assert_eq(t->merged, 0);
	ptc_kept_release(&k);
}
