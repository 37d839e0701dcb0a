/* SPDX-License-Identifier: MIT */
/* Description: items of several queues are handed over by time, then by queue. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/libipt/replay_state.h"
#include "decode/session/decode_input.h"
#include "decode/session/merge.h"

enum { QUEUES = 3, FIRST_TID = 10 };

/* Queue i belongs to thread FIRST_TID + i. Each test has a process of its own. */
static struct ptc_decode_input in;
static struct ptc_decode_stats stats;
static struct ptc_merge merge;
static struct ptc_queue_decoder lanes[QUEUES];
static char text[512];
static unsigned int calls, stop_at;

static void begin(void)
{
	const struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_err err;
	size_t i;

	in.opts = opts;
	in.lanes = lanes;
	in.nlanes = QUEUES;
	for (i = 0; i < QUEUES; i++) {
		struct ptc_replay *r = calloc(1, sizeof(*r));

		cr_assert_not_null(r);
		ptc_out_init(&r->out, (uint32_t)i, &in.opts, &stats);
		r->out.tid = FIRST_TID + (int32_t)i;
		lanes[i] = (struct ptc_queue_decoder){ .idx = (uint32_t)i, .replay = r };
	}
	cr_assert_eq(ptc_merge_begin(&merge, &in, &stats, &err), 0);
}

static void end(void)
{
	size_t i;

	ptc_merge_release(&merge);
	for (i = 0; i < QUEUES; i++) {
		ptc_out_release(&lanes[i].replay->out);
		free(lanes[i].replay);
	}
}

TestSuite(merge, .init = begin, .fini = end);

/* Items of these times wait in queue @i. */
static void wait_in(size_t i, size_t n, const uint64_t *times)
{
	size_t k;

	for (k = 0; k < n; k++)
		cr_assert_not_null(ptc_out_branch(&lanes[i].replay->out, 0x1000, 0x2000,
						  PTC_KIND_JMP, times[k]));
	ptc_merge_changed(&merge, &lanes[i]);
}

#define WAIT_IN(i, ...)                                                                            \
	wait_in(i, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t),                         \
		(uint64_t[]){ __VA_ARGS__ })

/* Queue @i will still list items, none before @now. */
static void goes_on(size_t i, uint64_t now)
{
	lanes[i].live = true;
	lanes[i].replay->time.now = now;
	ptc_merge_changed(&merge, &lanes[i]);
}

/* Queue @i lists no more items. */
static void ends(size_t i)
{
	lanes[i].live = false;
	ptc_merge_changed(&merge, &lanes[i]);
}

static int list(void *ctx, const struct ptc_item *items, size_t n)
{
	size_t i, at;

	(void)ctx;
	for (i = 0; i < n; i++) {
		at = strlen(text);
		(void)snprintf(text + at, sizeof(text) - at, "%s%d@%d ",
			       items[i].type == PTC_ITEM_GAP ? "gap" : "", items[i].tid,
			       items[i].time == PTC_NO_TIME ? -1 : (int)items[i].time);
	}
	return ++calls == stop_at;
}

static const struct ptc_sink sink = { list, NULL };

/* All waiting items are handed over. */
static void expect_rest(const char *want)
{
	struct ptc_err err;

	text[0] = '\0';
	cr_assert_eq(ptc_merge_rest(&merge, &sink, &err), 0);
	cr_assert_str_eq(text, want);
}

static void expect_settled(const char *want)
{
	struct ptc_err err;

	text[0] = '\0';
	cr_assert_eq(ptc_merge_settled(&merge, &sink, &err), 0);
	cr_assert_str_eq(text, want);
}

Test(merge, items_of_several_queues_leave_in_the_order_of_their_times)
{
	WAIT_IN(0, 10, 40, 70);
	WAIT_IN(1, 20, 50, 60);
	WAIT_IN(2, 5, 30, 80);
	expect_rest("12@5 10@10 11@20 12@30 10@40 11@50 11@60 10@70 12@80 ");
	expect_rest("");
}

Test(merge, at_one_time_the_first_queue_is_the_first)
{
	WAIT_IN(0, 10, 20);
	WAIT_IN(1, 10, 10, 20);
	WAIT_IN(2, 10, 20);
	expect_rest("10@10 11@10 11@10 12@10 10@20 11@20 12@20 ");
}

Test(merge, an_item_without_a_time_leaves_with_what_is_in_front_of_it)
{
	WAIT_IN(0, 10, PTC_NO_TIME, 30);
	WAIT_IN(1, PTC_NO_TIME, 20);
	expect_rest("11@-1 10@10 10@-1 11@20 10@30 ");
}

Test(merge, nothing_leaves_that_a_queue_may_yet_come_before)
{
	WAIT_IN(0, 10, 20, 21);
	WAIT_IN(1, 20);
	WAIT_IN(2, 15, 20);
	goes_on(0, 100);
	goes_on(1, 20);
	goes_on(2, 100);
	/* Queue 1 may still list items of time 20, in front of those of queue 2. */
	expect_settled("10@10 12@15 10@20 11@20 ");
	expect_settled("");
	goes_on(1, 21);
	expect_settled("12@20 10@21 ");
}

Test(merge, a_queue_that_has_ended_holds_nothing_back)
{
	WAIT_IN(0, 10, 90);
	WAIT_IN(1, 20);
	goes_on(0, 50);
	goes_on(1, 5);
	expect_settled("");
	ends(1);
	expect_settled("10@10 11@20 ");
	ends(0);
	expect_settled("10@90 ");
}

Test(merge, a_queue_whose_time_is_not_known_holds_all_back)
{
	WAIT_IN(0, 1);
	goes_on(0, 50);
	goes_on(1, PTC_NO_TIME);
	expect_settled("");
}

Test(merge, the_sink_can_stop_it)
{
	struct ptc_err err;

	WAIT_IN(0, 10, 30);
	WAIT_IN(1, 20);
	stop_at = 2;
	cr_assert_eq(ptc_merge_rest(&merge, &sink, &err), PTC_E_STOPPED);
	cr_assert_str_eq(text, "10@10 11@20 ");
}

Test(merge, a_break_is_a_gap_between_what_is_before_and_behind_it)
{
	struct ptc_discontinuity_break breaks[] = {
		{ .time = 15, .tid = 10, .cpu = 1, .queue = 5 },
		{ .time = 90, .tid = 10, .cpu = 1, .queue = 5 },
	};

	in.joint = (struct ptc_discontinuity){ .until_ns = UINT64_MAX,
					       .breaks = breaks,
					       .nbreaks = 2 };
	WAIT_IN(0, 10, 20);
	WAIT_IN(1, 12, 14);
	expect_rest("10@10 11@12 11@14 gap10@15 10@20 gap10@90 ");
	cr_assert_eq(stats.gaps[PTC_GAP_SNAPSHOT], 2);
	free(in.joint.seen);
}

Test(merge, a_break_of_a_thread_that_nobody_asked_for_is_left_out)
{
	struct ptc_discontinuity_break breaks[] = { { .time = 15, .tid = 10, .cpu = 1 } };

	in.joint = (struct ptc_discontinuity){ .until_ns = UINT64_MAX,
					       .breaks = breaks,
					       .nbreaks = 1 };
	in.opts.tids = (struct ptc_ids){ &(struct ptc_id_range){ 11, 11 }, 1 };
	WAIT_IN(0, 10, 20);
	expect_rest("10@10 10@20 ");
	cr_assert_eq(stats.gaps[PTC_GAP_SNAPSHOT], 0);
	free(in.joint.seen);
}
