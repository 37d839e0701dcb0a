/* SPDX-License-Identifier: MIT */
/*
 * Description: how much of each thread's trace is complete up to its end, and the reason for its
 * begin.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/completeness.h"

static struct ptc_item branch(int32_t tid, uint32_t queue, uint64_t time)
{
	return (struct ptc_item){
		.type = PTC_ITEM_BRANCH, .pid = 1, .tid = tid, .queue = queue, .time = time
	};
}

static struct ptc_item gap(int32_t tid, uint32_t queue, enum ptc_gap_cause cause, uint64_t bytes)
{
	return (struct ptc_item){ .type = PTC_ITEM_GAP,
				  .pid = -1,
				  .tid = tid,
				  .queue = queue,
				  .cause = (uint8_t)cause,
				  .to = bytes,
				  .time = 5 };
}

static struct ptc_verdict of(const struct ptc_item *items, size_t n)
{
	struct ptc_verdict v = { .n = 0 };
	size_t i;

	for (i = 0; i < n; i++) /* one item per call, like some sinks */
		cr_assert_eq(ptc_verdict_items(&v, items + i, 1), 0);
	return v;
}

static void expect(const struct ptc_verdict *v, const char *want)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ptc_verdict_show(out, ">", v, 3);
	(void)fclose(out);
	cr_assert_str_eq(text, want);
	free(text);
}

Test(completeness, all_that_the_ring_had_is_complete)
{
	const struct ptc_item items[] = { gap(-1, 0, PTC_GAP_SNAPSHOT, 4096), branch(7, 0, 1000),
					  branch(7, 0, 2500), branch(8, 0, 3000000001) };
	struct ptc_verdict v = of(items, 4);

	cr_assert(ptc_verdict_complete(&v));
	expect(&v, "> tid 7: the last 1.500 us, 2 branches without a gap up to 0.000002500\n"
		   "> tid 8: the last 0.000 us, 1 branch without a gap up to 3.000000001\n");
	ptc_verdict_release(&v);
}

Test(completeness, behind_a_gap_it_is_less)
{
	const struct ptc_item items[] = { branch(7, 0, 1000), branch(8, 0, 1000),
					  gap(7, 0, PTC_GAP_OVERFLOW, 0),
					  gap(7, 0, PTC_GAP_LOST, 512), branch(7, 0, 4000) };
	struct ptc_verdict v = of(items, 5);

	cr_assert(!ptc_verdict_complete(&v));
	cr_assert(v.threads[1].gaps == 0 && v.threads[1].branches == 1, "it is not its gap");
	expect(&v, "> tid 7: NOT complete: 2 gaps, 512 bytes, last cause: lost; the last 0.000 us, "
		   "1 branch without a gap up to 0.000004000\n"
		   "> tid 8: the last 0.000 us, 1 branch without a gap up to 0.000001000\n");
	ptc_verdict_release(&v);
}

Test(completeness, a_gap_at_the_end_leaves_nothing)
{
	const struct ptc_item items[] = { branch(7, 0, 1000), gap(7, 0, PTC_GAP_TRUNCATED, 8) };
	struct ptc_verdict v = of(items, 2);

	cr_assert(!ptc_verdict_complete(&v));
	expect(&v, "> tid 7: NOT complete: 1 gap, 8 bytes, last cause: truncated; no branch after "
		   "the last gap\n");
	ptc_verdict_release(&v);
}

/* The gap's thread is unknown: it may be any thread of the queue. */
Test(completeness, a_gap_of_a_queue_is_that_of_all_who_ran_there)
{
	const struct ptc_item items[] = { branch(7, 0, 1000), branch(8, 1, 1000),
					  branch(9, 0, 1000), gap(-1, 0, PTC_GAP_DESYNC, 9) };
	struct ptc_verdict v = of(items, 4);

	cr_assert(v.threads[0].gaps == 1 && v.threads[1].gaps == 0 && v.threads[2].gaps == 1);
	cr_assert_eq(v.unplaced, 0);
	ptc_verdict_release(&v);
}

Test(completeness, a_gap_of_nobody_is_not_forgotten)
{
	const struct ptc_item items[] = { gap(-1, 3, PTC_GAP_LOST, 9), branch(7, 0, PTC_NO_TIME) };
	struct ptc_verdict v = of(items, 2);

	cr_assert(!ptc_verdict_complete(&v));
	expect(&v, "> tid 7: the last 1 branch without a gap\n"
		   "> NOT complete: 1 gap in unknown threads\n");
	ptc_verdict_release(&v);
}

static void switches(struct ptc_verdict *v, int32_t tid, uint32_t cpu, uint64_t time, bool out)
{
	const struct ptc_sb sb = {
		.type = PERF_RECORD_SWITCH,
		.misc = out ? PERF_RECORD_MISC_SWITCH_OUT : 0,
		.id = { .has = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
			.tid = tid,
			.cpu = cpu,
			.time = time },
	};

	cr_assert_eq(ptc_verdict_sideband(v, &sb), 0);
}

/*
 * Thread 7 ran on CPU 0, on CPU 1, and on CPU 0 again. Thread 8 ran on CPU 0, on CPU 1, and then
 * slept. The ring of CPU 1 begins at @begins: what both did on CPU 1 before is overwritten, so 7's
 * trace before that time does not continue behind it.
 */
static void moved(struct ptc_verdict *v, uint64_t begins)
{
	struct ptc_item items[] = { gap(-1, 1, PTC_GAP_SNAPSHOT, 4096),
				    branch(7, 0, 1000),
				    branch(8, 0, 1100),
				    branch(7, 0, 2000),
				    branch(7, 0, 4000),
				    branch(7, 0, 4500) };
	const bool none = begins == PTC_NO_TIME;
	size_t i;
	int pass;

	*v = (struct ptc_verdict){ .n = 0 };
	switches(v, 7, 1, 2500, false);
	switches(v, 7, 1, 3000, true);
	switches(v, 8, 1, 3100, false);
	switches(v, 8, 1, 3200, true);
	items[0].cpu = 1;
	items[0].time = begins;
	for (pass = 0; pass < 2; pass++) {
		for (i = !none; i < 6; i++)
			cr_assert_eq(ptc_verdict_items(v, items + i, 1), 0);
		if (!none) /* in time order */
			cr_assert_eq(ptc_verdict_items(v, items, 1), 0);
		cr_assert_eq(ptc_verdict_settle(v), begins > 2500 && pass == 0);
		if (begins <= 2500)
			return;
	}
}

Test(completeness, what_is_overwritten_on_a_cpu_that_it_left_parts_it)
{
	struct ptc_verdict v;

	moved(&v, 5000);
	cr_assert(!ptc_verdict_complete(&v), "what 8 did last is not there");
	expect(&v, "> tid 7: the last 0.500 us, 2 branches without a gap up to 0.000004500; its "
		   "trace on CPU 1 up to 0.000003000 was overwritten\n"
		   "> tid 8: NOT complete: no branch; its trace on CPU 1 up to 0.000003200 was "
		   "overwritten\n");
	ptc_verdict_release(&v);
	moved(&v, 2500); /* nothing is missing */
	cr_assert(ptc_verdict_complete(&v));
	cr_assert(v.threads[0].branches == 4 && v.threads[1].branches == 1);
	ptc_verdict_release(&v);
}

/*
 * As decode reports it: a gap of the thread itself at its switch to that CPU. Thread 7 continues,
 * thread 8 does not.
 */
Test(completeness, a_thread_with_a_gap_of_its_own_has_its_reason_too)
{
	struct ptc_item items[] = { branch(7, 0, 1000),
				    branch(8, 0, 1100),
				    gap(7, 1, PTC_GAP_SNAPSHOT, 0),
				    gap(8, 1, PTC_GAP_SNAPSHOT, 0),
				    branch(7, 0, 4000),
				    gap(-1, 1, PTC_GAP_SNAPSHOT, 4096),
				    branch(9, 1, 6000) };
	struct ptc_verdict v = { .n = 0 };
	size_t i;

	switches(&v, 7, 1, 2500, false);
	switches(&v, 7, 1, 3000, true);
	switches(&v, 8, 1, 3100, false);
	switches(&v, 8, 1, 3200, true);
	switches(&v, 9, 1, 4000, false); /* stays on CPU 1: an overwritten begin is normal */
	items[5].cpu = 1;
	items[5].time = 5000;
	for (i = 0; i < 7; i++)
		cr_assert_eq(ptc_verdict_items(&v, items + i, 1), 0);
	cr_assert_eq(ptc_verdict_settle(&v), 0, "nothing has to be counted again");
	expect(&v, "> tid 7: the last 0.000 us, 1 branch without a gap up to 0.000004000; its "
		   "trace on CPU 1 up to 0.000003000 was overwritten\n"
		   "> tid 8: NOT complete: no branch; its trace on CPU 1 up to 0.000003200 was "
		   "overwritten\n"
		   "> tid 9: the last 0.000 us, 1 branch without a gap up to 0.000006000\n");
	ptc_verdict_release(&v);
}

Test(completeness, a_ring_without_a_psb_has_nothing)
{
	struct ptc_verdict v;

	moved(&v, PTC_NO_TIME);
	cr_assert(!ptc_verdict_complete(&v));
	cr_assert(v.threads[0].branches == 2 && v.threads[0].moved_ns == 3000);
	cr_assert(v.threads[1].branches == 0 && v.threads[1].moved_cpu == 1);
	ptc_verdict_release(&v);
}

static void told(struct ptc_verdict *v, uint32_t type, int32_t tid, uint64_t time)
{
	struct ptc_sb sb = { .type = type, .id = { .has = PERF_SAMPLE_TIME, .time = time } };

	if (type == PERF_RECORD_COMM)
		sb.u.comm.tid = tid;
	else
		sb.u.task.tid = tid;
	cr_assert_eq(ptc_verdict_sideband(v, &sb), 0);
}

Test(completeness, who_is_there_and_did_nothing_is_counted)
{
	struct ptc_verdict v = { .n = 0 };
	const struct ptc_item it = branch(7, 0, 1000);

	told(&v, PERF_RECORD_EXIT, 9, 600); /* from another ring than its FORK */
	told(&v, PERF_RECORD_COMM, 7, 0);
	told(&v, PERF_RECORD_FORK, 8, 0);
	told(&v, PERF_RECORD_COMM, 8, 0);
	told(&v, PERF_RECORD_FORK, 9, 500);
	told(&v, PERF_RECORD_FORK, 10, 500);
	cr_assert_eq(ptc_verdict_items(&v, &it, 1), 0);
	cr_assert_eq(ptc_verdict_settle(&v), 0);
	cr_assert(ptc_verdict_complete(&v), "they slept");
	expect(&v,
	       "> tid 7: the last 0.000 us, 1 branch without a gap up to 0.000001000\n"
	       "> 2 more threads without a branch: not running, or the trace was overwritten\n");
	ptc_verdict_release(&v);
}

Test(completeness, lost_side_records_are_a_loss)
{
	const struct ptc_item items[] = { branch(7, 0, 1000) };
	struct ptc_verdict v = of(items, 1);

	v.lost_records = 3;
	cr_assert(!ptc_verdict_complete(&v));
	expect(&v,
	       "> tid 7: the last 0.000 us, 1 branch without a gap up to 0.000001000\n"
	       "> NOT complete: 3 sideband records were lost since the recording began; mappings "
	       "or threads may be missing\n");
	ptc_verdict_release(&v);
}

Test(completeness, nothing_is_not_complete)
{
	struct ptc_verdict v = of(NULL, 0);

	cr_assert(!ptc_verdict_complete(&v));
	expect(&v, "> no branch of any thread\n");
	ptc_verdict_release(&v);
}

Test(completeness, many_threads_are_told_in_short)
{
	struct ptc_item items[40];
	struct ptc_verdict v;
	size_t i;

	for (i = 0; i < 40; i++)
		items[i] = branch((int32_t)(i % 20), 0, 1000 + i);
	v = of(items, 40);
	cr_assert_eq(v.n, 20);
	for (i = 0; i < 20; i++)
		cr_assert(v.threads[i].branches == 2 && v.threads[i].last_ns == 1020 + i);
	ptc_verdict_release(&v);
}

/* The instructions up to the first branch do not count: the trace begins there. */
Test(completeness, of_a_software_source_instructions_are_counted)
{
	struct ptc_item items[] = { branch(7, 0, 1000), branch(7, 0, 1000), branch(7, 0, 1000),
				    branch(8, 0, 1000) };
	struct ptc_verdict v = { .of_software = true };

	items[0].insns = 100;
	items[1].insns = 5;
	items[2].insns = 6;
	cr_assert_eq(ptc_verdict_items(&v, items, 4), 0);
	expect(&v, "> tid 7: the last 11 instructions, 3 branches without a gap up to 0.000001000\n"
		   "> tid 8: the last 0 instructions, 1 branch without a gap up to 0.000001000\n");
	ptc_verdict_release(&v);
}
