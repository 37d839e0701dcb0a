/* SPDX-License-Identifier: MIT */
/*
 * Description: ring buffers of several CPUs begin at different times; the trace of a moving thread
 * cannot always be joined.
 */
#include <criterion/criterion.h>
#include <linux/perf_event.h>

#include "decode/session/discontinuity.h"

/* Kept trace: CPU 0 from 50 on; CPU 1 [10, 20] and from 40 on; CPU 2 nothing. */
static struct ptc_discontinuity three_cpus(void)
{
	struct ptc_discontinuity j = { .nkept = 0 };

	cr_assert(ptc_discontinuity_keep(&j, (struct ptc_kept_time){ 0, 100, 50, UINT64_MAX }));
	cr_assert(ptc_discontinuity_keep(&j, (struct ptc_kept_time){ 1, 101, 10, 20 }));
	cr_assert(ptc_discontinuity_keep(&j, (struct ptc_kept_time){ 1, 101, 40, UINT64_MAX }));
	return j;
}

static void switches(struct ptc_discontinuity *j, uint64_t time, int32_t tid, uint32_t cpu,
		     uint16_t misc)
{
	struct ptc_event ev = { .time = time };

	ev.sb.type = PERF_RECORD_SWITCH;
	ev.sb.misc = misc;
	ev.sb.id.has = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
	ev.sb.id.tid = tid;
	ev.sb.id.pid = 1;
	ev.sb.id.cpu = cpu;
	cr_assert(ptc_discontinuity_event(j, &ev));
}

static void comes(struct ptc_discontinuity *j, uint64_t time, int32_t tid, uint32_t cpu)
{
	switches(j, time, tid, cpu, 0);
}

static void goes(struct ptc_discontinuity *j, uint64_t time, int32_t tid, uint32_t cpu)
{
	switches(j, time, tid, cpu, PERF_RECORD_MISC_SWITCH_OUT);
}

static size_t see(struct ptc_discontinuity *j, const struct ptc_item *items, size_t n)
{
	size_t ret = SIZE_MAX;

	cr_assert(ptc_discontinuity_see(j, items, n, &ret));
	return ret;
}

static struct ptc_item branch(int32_t tid, uint64_t time)
{
	return (struct ptc_item){ .tid = tid, .time = time, .type = PTC_ITEM_BRANCH };
}

/* A thread was seen, then came to @cpu at @time. Returns true if a break is reported. */
static bool breaks(uint64_t time, uint32_t cpu)
{
	struct ptc_discontinuity j = three_cpus();
	const struct ptc_item it = branch(7, 1);
	struct ptc_item gap;
	bool ret;

	cr_assert_eq(see(&j, &it, 1), 1);
	comes(&j, time, 7, cpu);
	ret = ptc_discontinuity_next(&j, UINT64_MAX, &gap);
	if (ret) {
		cr_assert_eq(gap.type, PTC_ITEM_GAP);
		cr_assert_eq(gap.cause, PTC_GAP_SNAPSHOT);
		cr_assert_eq(gap.tid, 7);
		cr_assert_eq(gap.pid, 1);
		cr_assert_eq(gap.time, time);
		cr_assert_eq(gap.cpu, (int32_t)cpu);
		cr_assert_eq(gap.queue, 100 + cpu);
	}
	cr_assert_not(ptc_discontinuity_next(&j, UINT64_MAX, &gap));
	ptc_discontinuity_release(&j);
	return ret;
}

Test(discontinuity, a_thread_comes_to_a_cpu_of_which_nothing_was_kept_then)
{
	cr_assert(breaks(5, 1));
	cr_assert_not(breaks(10, 1));
	cr_assert_not(breaks(20, 1));
	cr_assert(breaks(21, 1));
	cr_assert(breaks(39, 1));
	cr_assert_not(breaks(40, 1));
	cr_assert(breaks(49, 0));
	cr_assert_not(breaks(50, 0));
	cr_assert_not(breaks(49, 2), "a CPU that nobody asked for");
	cr_assert_not(breaks(49, UINT32_MAX), "no CPU at all");
}

/*
 * It was there when the ring buffer was written out, and later: its trace up to its leaving was
 * overwritten.
 */
Test(discontinuity, a_thread_goes_from_a_cpu_of_which_nothing_was_kept_then)
{
	static const struct {
		uint64_t time;
		bool breaks;
	} cases[] = { { 20, false }, { 21, true }, { 39, true }, { 40, false } };
	struct ptc_item gap;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ptc_discontinuity j = three_cpus();
		const struct ptc_item it = branch(7, 15);

		comes(&j, 12, 7, 1);
		cr_assert_eq(see(&j, &it, 1), 1);
		goes(&j, cases[i].time, 7, 1);
		cr_assert_eq(ptc_discontinuity_next(&j, UINT64_MAX, &gap), cases[i].breaks);
		cr_assert(!cases[i].breaks || (gap.tid == 7 && gap.cpu == 1 && gap.queue == 101));
		ptc_discontinuity_release(&j);
	}
}

/* Nothing is kept behind the last sample, or on a CPU without a sample. */
Test(discontinuity, samples_end_and_cpus_may_have_none)
{
	static const struct {
		uint64_t time;
		uint32_t cpu;
		bool breaks;
	} cases[] = { { 9, 1, true },  { 10, 1, false }, { 20, 1, false },
		      { 21, 1, true }, { 40, 1, true },	 { 40, 0, true },
		      { 11, 2, true }, { 55, 3, false }, { 61, 3, true } };
	struct ptc_item gap;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ptc_discontinuity j = { .samples = true };
		const struct ptc_item it = branch(7, 1);

		cr_assert(ptc_discontinuity_keep(&j, (struct ptc_kept_time){ 1, 101, 10, 20 }));
		cr_assert(ptc_discontinuity_keep(&j, (struct ptc_kept_time){ 3, 103, 50, 60 }));
		cr_assert(ptc_discontinuity_keep(&j, (struct ptc_kept_time){ 4, 104, 65, 70 }));
		cr_assert_eq(see(&j, &it, 1), 1);
		comes(&j, cases[i].time, 7, cases[i].cpu);
		cr_assert_eq(ptc_discontinuity_next(&j, UINT64_MAX, &gap), cases[i].breaks, "%zu",
			     i);
		cr_assert(!cases[i].breaks || gap.cpu == (int32_t)cases[i].cpu);
		ptc_discontinuity_release(&j);
	}
}

Test(discontinuity, a_cpu_without_anything_that_can_be_decoded_always_breaks)
{
	struct ptc_discontinuity j = { .nkept = 0 };
	const struct ptc_item it = branch(7, 1);
	struct ptc_item gap;

	cr_assert(
		ptc_discontinuity_keep(&j, (struct ptc_kept_time){ 3, 3, UINT64_MAX, UINT64_MAX }));
	cr_assert_eq(see(&j, &it, 1), 1);
	comes(&j, 1000000, 7, 3);
	cr_assert(ptc_discontinuity_next(&j, UINT64_MAX, &gap));
	cr_assert_not(ptc_discontinuity_is_over(&j, UINT64_MAX - 1));
	ptc_discontinuity_release(&j);
}

Test(discontinuity, who_was_not_seen_has_nothing_to_be_joined)
{
	struct ptc_discontinuity j = three_cpus();
	const struct ptc_item items[] = { branch(7, 11), branch(8, 12) };
	struct ptc_item gap;

	comes(&j, 5, 7, 0);
	cr_assert_not(ptc_discontinuity_next(&j, 11, &gap), "it begins behind that");
	cr_assert_eq(see(&j, items, 1), 1);
	comes(&j, 12, 9, 0);
	comes(&j, 13, 7, 0);
	comes(&j, 14, 7, 0);
	comes(&j, 15, 8, 1);
	cr_assert_eq(see(&j, items + 1, 1), 1);
	cr_assert(ptc_discontinuity_next(&j, UINT64_MAX, &gap));
	cr_assert_eq(gap.tid, 7, "9 was never seen");
	cr_assert_not(ptc_discontinuity_next(&j, UINT64_MAX, &gap),
		      "7 once, until it is seen again; 8 goes on");
	cr_assert(ptc_discontinuity_is_over(&j, 50));
	cr_assert_not(ptc_discontinuity_is_over(&j, 49));
	ptc_discontinuity_release(&j);
}

Test(discontinuity, items_stop_at_a_break_and_those_at_its_time_are_in_front_of_it)
{
	struct ptc_discontinuity j = three_cpus();
	const struct ptc_item items[] = { branch(8, 10), branch(7, 30), branch(7, PTC_NO_TIME),
					  branch(8, 31), branch(7, 60) };
	struct ptc_item gap;

	comes(&j, 30, 7, 0);
	cr_assert_not(ptc_discontinuity_next(&j, 10, &gap));
	cr_assert_eq(see(&j, items, 5), 3);
	cr_assert_not(ptc_discontinuity_next(&j, 30, &gap));
	cr_assert(ptc_discontinuity_next(&j, 31, &gap));
	cr_assert_eq(gap.tid, 7);
	cr_assert_eq(see(&j, items + 3, 2), 2);
	comes(&j, 32, 7, 0);
	ptc_discontinuity_rewind(&j);
	cr_assert_not(ptc_discontinuity_next(&j, UINT64_MAX, &gap));
	ptc_discontinuity_release(&j);
}

Test(discontinuity, switches_of_all_of_a_cpu_name_who_goes_and_who_comes)
{
	struct ptc_discontinuity j = three_cpus();
	const struct ptc_item items[] = { branch(7, 1), branch(8, 1), branch(9, 1) };
	struct ptc_event ev = { .time = 30 };
	struct ptc_item gap;

	cr_assert_eq(see(&j, items, 3), 3);
	ev.sb.id.has = PERF_SAMPLE_TID | PERF_SAMPLE_CPU;
	ev.sb.id.tid = 7;
	ev.sb.misc = PERF_RECORD_MISC_SWITCH_OUT;
	ev.sb.type = PERF_RECORD_SWITCH;
	cr_assert(ptc_discontinuity_event(&j, &ev), "7 goes");
	ev.sb.type = PERF_RECORD_SWITCH_CPU_WIDE;
	ev.sb.u.sw.next_prev_tid = 8;
	cr_assert(ptc_discontinuity_event(&j, &ev), "7 goes, 8 comes");
	ev.sb.misc = 0;
	ev.sb.type = PERF_RECORD_ITRACE_START;
	ev.sb.u.itrace_start.tid = 9;
	cr_assert(ptc_discontinuity_event(&j, &ev));
	ev.sb.id.has = PERF_SAMPLE_TID;
	ev.sb.type = PERF_RECORD_SWITCH;
	cr_assert(ptc_discontinuity_event(&j, &ev), "nobody knows where");
	cr_assert(ptc_discontinuity_next(&j, 31, &gap));
	cr_assert_eq(gap.tid, 7, "once");
	cr_assert(ptc_discontinuity_next(&j, 31, &gap));
	cr_assert_eq(gap.tid, 8);
	cr_assert(ptc_discontinuity_next(&j, 31, &gap));
	cr_assert_eq(gap.tid, 9);
	cr_assert_not(ptc_discontinuity_next(&j, 31, &gap));
	ptc_discontinuity_release(&j);
}
