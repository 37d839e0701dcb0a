/* SPDX-License-Identifier: MIT */
/* Description: the last transfers of each thread, and gaps among them. */
#include <criterion/criterion.h>

#include "decode/recent.h"
#include "ptcap/kind.h"

static void branch(struct ptc_recent *r, int32_t tid, uint64_t from)
{
	const struct ptc_item it = { .from = from,
				     .to = from + 1,
				     .time = from,
				     .tid = tid,
				     .type = PTC_ITEM_BRANCH,
				     .kind = PTC_KIND_JMP };

	cr_assert(ptc_recent_items(r, &it, 1));
}

static void gap(struct ptc_recent *r, int32_t tid, enum ptc_gap_cause cause)
{
	const struct ptc_item it = { .tid = tid, .type = PTC_ITEM_GAP, .cause = (uint8_t)cause };

	cr_assert(ptc_recent_items(r, &it, 1));
}

Test(recent, threads_are_kept_apart)
{
	static const int32_t tids[] = { 7, 3, 9, 3, 7, 1 };
	struct ptc_recent r = { .n = 0 };
	size_t i;

	cr_assert_null(ptc_recent_find(&r, 7));
	for (i = 0; i < sizeof(tids) / sizeof(*tids); i++)
		branch(&r, tids[i], 100 + i);
	cr_assert_eq(ptc_recent_find(&r, 7)->n, 2);
	cr_assert_eq(ptc_recent_find(&r, 7)->steps[1].from, 104);
	cr_assert_eq(ptc_recent_find(&r, 3)->steps[0].from, 101);
	cr_assert_eq(ptc_recent_find(&r, 1)->steps[0].to, 106);
	cr_assert_eq(ptc_recent_find(&r, 9)->n, 1);
	cr_assert_null(ptc_recent_find(&r, 8));
	ptc_recent_release(&r);
}

Test(recent, code_that_is_missing_is_a_gap_of_its_thread_and_lost_trace_of_all)
{
	struct ptc_recent r = { .n = 0 };

	branch(&r, 1, 10);
	branch(&r, 2, 20);
	gap(&r, 1, PTC_GAP_NOCODE);
	cr_assert_eq(ptc_recent_find(&r, 1)->n, 2);
	cr_assert_eq(ptc_recent_find(&r, 1)->steps[1].flags, PTC_STEP_GAP);
	cr_assert_eq(ptc_recent_find(&r, 2)->n, 1);
	gap(&r, 1, PTC_GAP_LOST);
	cr_assert_eq(ptc_recent_find(&r, 1)->n, 3);
	cr_assert_eq(ptc_recent_find(&r, 2)->n, 2);
	ptc_recent_release(&r);
}

Test(recent, the_newest_are_kept_and_it_is_known_that_there_were_more)
{
	const uint64_t n = 5 * (uint64_t)PTC_RECENT_MAX + 3;
	struct ptc_recent r = { .n = 0 };
	const struct ptc_recent_thread *t;
	uint64_t i;

	for (i = 0; i < 2 * (uint64_t)PTC_RECENT_MAX; i++)
		branch(&r, 1, i);
	cr_assert_not(ptc_recent_find(&r, 1)->cut);
	for (; i < n; i++)
		branch(&r, 1, i);
	t = ptc_recent_find(&r, 1);
	cr_assert(t->cut);
	cr_assert_geq(t->n, (size_t)PTC_RECENT_MAX);
	cr_assert_leq(t->n, 2 * (size_t)PTC_RECENT_MAX);
	for (i = 0; i < t->n; i++)
		cr_assert_eq(t->steps[i].from, n - t->n + i);
	ptc_recent_release(&r);
}
