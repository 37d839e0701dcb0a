/* SPDX-License-Identifier: MIT */
/* Description: the last branches of each thread, and gaps among them. */
#include <criterion/criterion.h>

#include "decode/lbr/thread_history.h"
#include "ptcap/kind.h"

static void branch(struct ptc_thread_history *r, int32_t tid, uint64_t from)
{
	const struct ptc_item it = { .from = from,
				     .to = from + 1,
				     .time = from,
				     .tid = tid,
				     .type = PTC_ITEM_BRANCH,
				     .kind = PTC_KIND_JMP };

	cr_assert_eq(ptc_thread_history_items(r, PTC_NO_TIME, &it, 1), 1);
}

static void gap(struct ptc_thread_history *r, int32_t tid, enum ptc_gap_cause cause)
{
	const struct ptc_item it = { .tid = tid, .type = PTC_ITEM_GAP, .cause = (uint8_t)cause };

	cr_assert_eq(ptc_thread_history_items(r, PTC_NO_TIME, &it, 1), 1);
}

Test(thread_history, threads_are_kept_apart)
{
	static const int32_t tids[] = { 7, 3, 9, 3, 7, 1 };
	struct ptc_thread_history r = { .n = 0 };
	size_t i;

	cr_assert_null(ptc_thread_history_find(&r, 7));
	for (i = 0; i < sizeof(tids) / sizeof(*tids); i++)
		branch(&r, tids[i], 100 + i);
	cr_assert_eq(ptc_thread_history_find(&r, 7)->n, 2);
	cr_assert_eq(ptc_thread_history_find(&r, 7)->steps[1].from, 104);
	cr_assert_eq(ptc_thread_history_find(&r, 3)->steps[0].from, 101);
	cr_assert_eq(ptc_thread_history_find(&r, 1)->steps[0].to, 106);
	cr_assert_eq(ptc_thread_history_find(&r, 9)->n, 1);
	cr_assert_null(ptc_thread_history_find(&r, 8));
	ptc_thread_history_release(&r);
}

Test(thread_history, code_that_is_missing_is_a_gap_of_its_thread_and_lost_trace_of_all)
{
	struct ptc_thread_history r = { .n = 0 };

	branch(&r, 1, 10);
	branch(&r, 2, 20);
	gap(&r, 1, PTC_GAP_NOCODE);
	cr_assert_eq(ptc_thread_history_find(&r, 1)->n, 2);
	cr_assert_eq(ptc_thread_history_find(&r, 1)->steps[1].flags, PTC_STEP_GAP);
	cr_assert_eq(ptc_thread_history_find(&r, 2)->n, 1);
	gap(&r, 1, PTC_GAP_LOST);
	cr_assert_eq(ptc_thread_history_find(&r, 1)->n, 3);
	cr_assert_eq(ptc_thread_history_find(&r, 2)->n, 2);
	ptc_thread_history_release(&r);
}

Test(thread_history, the_newest_are_kept_and_it_is_known_that_there_were_more)
{
	const uint64_t n = 5 * (uint64_t)PTC_THREAD_HISTORY_MAX + 3;
	struct ptc_thread_history r = { .n = 0 };
	const struct ptc_thread_history_thread *t;
	uint64_t i;

	for (i = 0; i < PTC_THREAD_HISTORY_CAP; i++)
		branch(&r, 1, i);
	cr_assert_not(ptc_thread_history_find(&r, 1)->cut);
	for (; i < n; i++)
		branch(&r, 1, i);
	t = ptc_thread_history_find(&r, 1);
	cr_assert(t->cut);
	cr_assert_geq(t->n, (size_t)PTC_THREAD_HISTORY_MAX);
	cr_assert_leq(t->n, (size_t)PTC_THREAD_HISTORY_CAP);
	for (i = 0; i < t->n; i++)
		cr_assert_eq(t->steps[i].from, n - t->n + i);
	ptc_thread_history_release(&r);
}

Test(thread_history, what_is_not_wanted_any_more_goes_first)
{
	struct ptc_thread_history r = { .since = PTC_THREAD_HISTORY_CAP - 100 };
	const struct ptc_thread_history_thread *t;
	uint64_t i;

	for (i = 1; i <= PTC_THREAD_HISTORY_CAP + 1; i++)
		branch(&r, 1, i);
	t = ptc_thread_history_find(&r, 1);
	cr_assert(t->cut);
	cr_assert_eq(t->n, (size_t)PTC_THREAD_HISTORY_LEAST + 1);
	cr_assert_eq(t->steps[t->n - 1].from, PTC_THREAD_HISTORY_CAP + 1);
	ptc_thread_history_release(&r);

	/* All steps not earlier than @since are kept, and some in front of them. */
	r.since = PTC_THREAD_HISTORY_CAP - 20000;
	for (i = 1; i <= PTC_THREAD_HISTORY_CAP + 1; i++)
		branch(&r, 1, i);
	t = ptc_thread_history_find(&r, 1);
	cr_assert_gt(t->n, (size_t)20001 + PTC_ALIGN_ENTRIES);
	cr_assert_lt(t->n, (size_t)PTC_THREAD_HISTORY_MAX);
	ptc_thread_history_release(&r);
}

Test(thread_history, beyond_what_all_threads_may_have_those_that_are_idle_are_cut_then_forgotten)
{
	struct ptc_thread_history r = { .most = (size_t)4 * PTC_THREAD_HISTORY_LEAST };
	uint64_t time = 0;
	int32_t tid;
	size_t i;

	for (tid = 1; tid <= 6; tid++)
		for (i = 0; i < (size_t)2 * PTC_THREAD_HISTORY_LEAST; i++) {
			branch(&r, tid, ++time);
			cr_assert_leq(r.held, r.most);
		}
	cr_assert_eq(r.n, 6);
	cr_assert_geq(r.forgotten, 2);
	cr_assert_eq(ptc_thread_history_find(&r, 1)->n, 0);
	cr_assert_eq(ptc_thread_history_find(&r, 2)->n, 0);
	cr_assert_eq(ptc_thread_history_find(&r, 5)->n, PTC_THREAD_HISTORY_LEAST);
	cr_assert_eq(ptc_thread_history_find(&r, 5)->steps[0].from,
		     9 * PTC_THREAD_HISTORY_LEAST + 1);
	cr_assert_eq(
		ptc_thread_history_find(&r, 6)->steps[ptc_thread_history_find(&r, 6)->n - 1].from,
		time);
	/* A thread that comes back begins anew, and its dropped steps are remembered. */
	branch(&r, 1, ++time);
	cr_assert_eq(ptc_thread_history_find(&r, 1)->n, 1);
	cr_assert(ptc_thread_history_find(&r, 1)->cut);
	ptc_thread_history_release(&r);
}

Test(thread_history, what_one_thread_has_is_bounded_too)
{
	struct ptc_thread_history r = { .most = (size_t)2 * PTC_THREAD_HISTORY_LEAST };
	const struct ptc_thread_history_thread *t;
	uint64_t i;

	for (i = 1; i <= (uint64_t)8 * PTC_THREAD_HISTORY_LEAST; i++) {
		branch(&r, 1, i);
		cr_assert_leq(r.held, r.most);
	}
	t = ptc_thread_history_find(&r, 1);
	cr_assert(t->cut);
	cr_assert_geq(t->n, (size_t)PTC_THREAD_HISTORY_LEAST / 2);
	cr_assert_eq(t->steps[t->n - 1].from, i - 1);
	ptc_thread_history_release(&r);
}

Test(thread_history, who_was_forgotten_is_known_to_have_had_more)
{
	struct ptc_thread_history r = { .most = 1024 };
	uint64_t time = 0;
	int32_t tid;

	for (tid = 1; tid <= 100; tid++)
		branch(&r, tid, ++time);
	cr_assert_gt(r.forgotten, 0);
	cr_assert_eq(ptc_thread_history_find(&r, 1)->n, 0);
	cr_assert(ptc_thread_history_find(&r, 1)->cut);
	cr_assert_not(ptc_thread_history_find(&r, 100)->cut);
	ptc_thread_history_release(&r);
}

Test(thread_history, a_time_that_goes_back_is_known_while_it_is_kept)
{
	struct ptc_thread_history r = { .n = 0 };
	struct ptc_item it = { .to = 1, .tid = 1, .type = PTC_ITEM_BRANCH };
	const size_t back = PTC_THREAD_HISTORY_CAP - 100;
	const struct ptc_thread_history_thread *t;
	size_t i;

	for (i = 0; i < PTC_THREAD_HISTORY_CAP + 1; i++) {
		it.time = i < back ? 1000000 + i : i;
		cr_assert_eq(ptc_thread_history_items(&r, PTC_NO_TIME, &it, 1), 1);
	}
	t = ptc_thread_history_find(&r, 1);
	cr_assert_lt(t->n, i);
	cr_assert_eq(t->ordered, t->n - (i - back));
	cr_assert_eq(t->steps[t->ordered].time, back);
	cr_assert_eq(ptc_thread_history_since(t, i - 5), t->n - 5);
	ptc_thread_history_release(&r);
}

Test(thread_history, items_are_taken_up_to_a_time)
{
	static const uint64_t times[] = { PTC_NO_TIME, 5, 5, 6, PTC_NO_TIME, 7, 9 };
	struct ptc_item items[sizeof(times) / sizeof(*times)] = { { .from = 0 } };
	struct ptc_thread_history r = { .n = 0 };
	const struct ptc_thread_history_thread *t;
	size_t i;

	for (i = 0; i < sizeof(times) / sizeof(*times); i++)
		items[i] = (struct ptc_item){
			.from = i + 1, .to = 1, .time = times[i], .tid = 1, .type = PTC_ITEM_BRANCH
		};
	cr_assert_eq(ptc_thread_history_items(&r, 5, items, 7), 1);
	cr_assert_eq(ptc_thread_history_items(&r, 7, items + 1, 6), 4);
	cr_assert_eq(ptc_thread_history_items(&r, 7, items + 5, 2), 0);
	cr_assert_eq(ptc_thread_history_items(&r, PTC_NO_TIME, items + 5, 2), 2);
	t = ptc_thread_history_find(&r, 1);
	cr_assert_eq(t->n, 7);
	for (i = 0; i < t->n; i++)
		cr_assert_eq(t->keys[i], ptc_thread_history_key(i + 1, 1));
	/* No time is as late as any time. */
	cr_assert_eq(ptc_thread_history_since(t, 10), 7);
	cr_assert_eq(ptc_thread_history_since(t, 9), 6);
	cr_assert_eq(ptc_thread_history_since(t, 7), 4);
	cr_assert_eq(ptc_thread_history_since(t, 6), 3);
	cr_assert_eq(ptc_thread_history_since(t, 1), 0);
	ptc_thread_history_release(&r);
}

Test(thread_history, where_a_thread_may_lose_its_cpu_is_known_of_what_is_new_too)
{
	struct ptc_thread_history r = { .n = 0 };
	struct ptc_thread_history_thread *t;

	branch(&r, 1, 10);
	branch(&r, 1, 11);
	gap(&r, 1, PTC_GAP_LOST);
	branch(&r, 1, 12);
	t = ptc_thread_history_find(&r, 1);
	cr_assert(ptc_thread_history_stops(t, 0));
	cr_assert_eq(t->nstops, 1);
	cr_assert_eq(t->stops[0], 1);
	branch(&r, 1, UINT64_MAX - 1); /* to the kernel */
	branch(&r, 1, 13);
	t = ptc_thread_history_find(&r, 1);
	cr_assert(ptc_thread_history_stops(t, 0));
	cr_assert_eq(t->nstops, 2);
	cr_assert_eq(t->stops[1], 3);
	cr_assert(ptc_thread_history_stops(t, 2));
	cr_assert_eq(t->nstops, 1);
	cr_assert_eq(t->stops[0], 3);
	ptc_thread_history_release(&r);
}
