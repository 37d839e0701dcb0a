/* SPDX-License-Identifier: MIT */
/* Description: the last instruction of a block is listed once its target is known. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/image/addrspace.h"
#include "decode/items/branch_builder.h"
#include "lib_pt.h"

enum { CIRCLE = 0x2000 };

/* jmp to itself */
static const uint8_t circle[] = { 0xeb, 0xfe };

/* Each test has a process of its own. */
static struct ptc_decode_opts opts;
static struct ptc_decode_stats stats;
static struct ptc_addrspace as;
static struct ptc_branch_builder *t;
static struct ptc_out out;

static void begin(void)
{
	const struct ptc_decode_opts none = PTC_DECODE_OPTS_INIT;

	opts = none;
	t = calloc(1, sizeof(*t));
	cr_assert_not_null(t);
	cr_assert(ptc_addrspace_patch(&as, PT_CODE, pt_code, PT_CODE_LEN));
	cr_assert(ptc_addrspace_patch(&as, CIRCLE, circle, sizeof(circle)));
	ptc_out_init(&out, 0, &opts, &stats);
	ptc_branch_builder_init(t, &out, &opts);
	ptc_branch_builder_set_code(t, &as);
}

static void end(void)
{
	ptc_branch_builder_release(t);
	ptc_out_release(&out);
	ptc_addrspace_release(&as);
	free(t);
}

TestSuite(branch_builder, .init = begin, .fini = end);

/* A block of one instruction, which is at @ip, ran at @time. */
static bool ran(uint64_t ip, uint64_t time)
{
	const struct ptc_branch_builder_block b = {
		.ip = ip, .end_ip = ip, .ninsn = 1, .mode = PTC_MODE_64, .time = time, .whole = ip
	};

	return ptc_branch_builder_block(t, &b);
}

static void happened(uint64_t value, uint64_t time)
{
	const struct ptc_pt_event ev = {
		.kind = PTC_EVENT_PTWRITE, .ip = 0x1003, .value = value, .time = time
	};

	ptc_branch_builder_event(t, &ev);
}

/* The items listed since the last call must be @want. */
static void expect(const char *want)
{
	char text[512] = "";
	size_t n;

	for (; out.head < out.n; out.head++) {
		const struct ptc_item *it = &out.items[out.head];

		n = strlen(text);
		if (it->type == PTC_ITEM_EVENT)
			(void)snprintf(text + n, sizeof(text) - n, "event@%d ", (int)it->time);
		else
			(void)snprintf(text + n, sizeof(text) - n, "%" PRIx64 " %" PRIx64 " %s@%d ",
				       it->from, it->to, ptc_kind_name((enum ptc_kind)it->kind),
				       (int)it->time);
	}
	cr_assert_str_eq(text, want);
}

Test(branch_builder, a_transfer_is_listed_when_the_next_block_says_where_it_led)
{
	cr_assert(ran(0x1000, 10));
	expect("");
	cr_assert(ran(0x1003, 20));
	expect("1000 1003 jcc@10 ");
	ptc_branch_builder_land(t, 0x1006);
	expect("1003 1006 jmp@20 ");
	ptc_branch_builder_land(t, 0x1006);
	expect("");
	cr_assert_eq(stats.insns, 2);
	cr_assert_eq(stats.branches, 2);
}

Test(branch_builder, a_jcc_to_the_next_instruction_is_not_listed)
{
	cr_assert(ran(0x1000, 10));
	cr_assert(ran(0x1002, 10));
	ptc_branch_builder_land(t, 0x1003);
	expect("");
}

Test(branch_builder, leaving_a_filter_without_a_transfer_is_asynchronous)
{
	(void)ran(0x1002, 10); /* a nop, of one byte */
	ptc_branch_builder_exit(t, 0x5000, 20);
	expect("1003 5000 async@20 ");
	(void)ran(0x1000, 30);
	ptc_branch_builder_exit(t, 0x1002, 40);
	expect("1002 1002 async@40 ");
	(void)ran(0x1000, 50);
	ptc_branch_builder_exit(t, 0x1003, 60);
	expect("1000 1003 jcc@60 ");
	ptc_branch_builder_exit(t, 0x5000, 70);
	expect("");
}

Test(branch_builder, an_interrupt_is_behind_the_transfer_that_led_there)
{
	(void)ran(0x1003, 10);
	ptc_branch_builder_async(t, 0x1006, 0x5000, 20);
	expect("1003 1006 jmp@10 1006 5000 async@20 ");
}

Test(branch_builder, what_is_cut_leads_nowhere)
{
	(void)ran(0x1003, 10);
	happened(1, 10);
	ptc_branch_builder_cut(t);
	expect("event@10 ");
	ptc_branch_builder_start(t, 0x1000, 20);
	expect("0 1000 start@20 ");
}

Test(branch_builder, an_event_waits_for_the_transfer_in_front_of_it)
{
	happened(1, 5);
	expect("event@5 ");
	(void)ran(0x1003, 10);
	happened(2, 11);
	happened(3, 12);
	expect("");
	ptc_branch_builder_land(t, 0x1006);
	expect("1003 1006 jmp@10 event@11 event@12 ");
	(void)ran(0x1002, 20); /* no branch: the event need not wait */
	happened(4, 21);
	expect("event@21 ");
}

Test(branch_builder, more_events_than_can_wait_are_listed_at_once)
{
	uint64_t i;

	(void)ran(0x1003, 10);
	for (i = 0; i < PTC_BRANCH_BUILDER_HELD; i++)
		happened(i, 11);
	expect("");
	happened(i, 12);
	expect("event@12 ");
}

Test(branch_builder, a_time_that_is_learnt_late_is_the_pending_one_s)
{
	(void)ran(0x1003, PTC_NO_TIME);
	happened(1, PTC_NO_TIME);
	happened(2, 45);
	ptc_branch_builder_learn_time(t, 50);
	ptc_branch_builder_learn_time(t, 60);
	ptc_branch_builder_land(t, 0x1006);
	expect("1003 1006 jmp@50 event@50 event@45 ");
}

Test(branch_builder, going_round_without_any_trace_is_endless)
{
	int i;

	for (i = 0; i < 10; i++) {
		cr_assert(ran(CIRCLE, 10), "trace was used in between");
		ptc_branch_builder_progress(t);
	}
	for (i = 0; i < 10 && ran(CIRCLE, 10); i++)
		;
	cr_assert_lt(i, 10);
}

Test(branch_builder, the_transfers_inside_a_bent_block_are_listed)
{
	const struct ptc_branch_builder_block b = { .ip = 0x1003,
						    .end_ip = 0x1025,
						    .ninsn = 4,
						    .mode = PTC_MODE_64,
						    .time = 10,
						    .bent = true,
						    .whole = 0x1003 };

	cr_assert(ptc_branch_builder_block(t, &b)); /* jmp, call, nop, ret */
	expect("1003 1006 jmp@10 1006 1024 call@10 ");
	ptc_branch_builder_land(t, 0x100b);
	expect("1025 100b ret@10 ");
}
