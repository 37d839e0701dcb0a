/* SPDX-License-Identifier: MIT */
/*
 * Description: the second engine. pt_replay() compares its branches with libipt, and aborts if they
 * differ. These tests check how far it gets.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "fewer.h"
#include "lib_flow.h"
#include "lib_pt.h"

/* The engine must decline @b (released) with reason @why. NULL: it must reach the end. */
static void expect(struct ptc_buf *b, const char *why)
{
	struct pt_how how = { .insns = false };
	const char *lines = pt_replay(b, &how);

	if (!why)
		cr_assert_eq(how.fast, PTC_FAST_AT_END, "%s\nafter:\n%s", how.fast_why, lines);
	else
		cr_assert(how.fast == PTC_FAST_DECLINED && !strcmp(how.fast_why, why),
			  "%d %s, not %s", (int)how.fast, how.fast_why ? how.fast_why : "", why);
	ptc_buf_release(b);
}

static void put(struct ptc_buf *b, const void *bytes, size_t n)
{
	ptc_buf_put(b, bytes, n);
}

#define PUT(b, s) put(b, s, sizeof(s) - 1)

Test(fast, packets_between_two_branches_leave_the_flow_alone)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1012);
	pt_cbr(&b, 8);
	PUT(&b, "\x02\x62");			   /* EXSTOP */
	PUT(&b, "\x02\x22\x00\x00");		   /* PWRE */
	PUT(&b, "\x02\xa2\x00\x00\x00\x00\x00");   /* PWRX */
	PUT(&b, "\x02\xc3\x88\1\2\3\4\5\6\7\x08"); /* MNT */
	pt_mode_tsx(&b, true, false);
	pt_ip(&b, PT_FUP, 0x1012);
	pt_tnt(&b, "N");
	PUT(&b, "\x02\xc2\0\0\0\0\0\0\0\0"); /* MWAIT, and EXSTOP with a FUP */
	PUT(&b, "\x02\xe2");
	pt_ip(&b, PT_FUP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	PUT(&b, "\x02\x83");		 /* STOP */
	PUT(&b, "\x02\x43\0\0\0\0\0\0"); /* PIP */
	pt_enable(&b, 0x1003);
	pt_tnt(&b, "T");
	pt_ip_none(&b, PT_PGD);
	expect(&b, NULL);
}

Test(fast, long_and_short_bits_and_addresses_of_any_length)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1012);
	pt_tnt64(&b, 0, 1);
	pt_ip16(&b, PT_TIP, 0x100b);
	pt_ip(&b, PT_TIP, PT_HIGH + 0x1000);
	pt_tnt64(&b, 3, 2);
	pt_ip16(&b, PT_TIP, 0x100e);
	PUT(&b, "\xcd\x10\x10\0\0\0\x7f\0\0"); /* all eight bytes */
	pt_tnt(&b, "TN");
	PUT(&b, "\x4d\x00\x10\0\0"); /* four */
	pt_tnt(&b, "NT");
	PUT(&b, "\x8d\x16\x10\0\0\0\x7f"); /* six, not extended */
	pt_ip_none(&b, PT_PGD);
	expect(&b, NULL);
}

Test(fast, addresses_may_come_behind_bits_that_follow_them)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1012);
	pt_tnt(&b, "TNN"); /* loop; then call *%rax, je and loop */
	pt_ip(&b, PT_TIP, 0x1010);
	pt_ip_none(&b, PT_PGD);
	expect(&b, NULL);
}

Test(fast, an_address_behind_bits_of_two_packets_is_declined)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1012);
	pt_tnt(&b, "TN");
	pt_tnt(&b, "N");
	pt_ip(&b, PT_TIP, 0x1010);
	pt_ip_none(&b, PT_PGD);
	expect(&b, "a TNT for an address");
}

Test(fast, an_overflow_goes_on_at_its_address_or_where_tracing_goes_on)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1012);
	pt_tnt(&b, "N");
	pt_ovf(&b);
	pt_tsc(&b, 1000);
	pt_ip(&b, PT_FUP, 0x1000);
	pt_tnt(&b, "TT");
	pt_ovf(&b);
	pt_enable(&b, 0x100e);
	pt_ip(&b, PT_TIP, 0x1012);
	pt_tnt(&b, "N");
	pt_ip_none(&b, PT_PGD);
	expect(&b, NULL);
}

Test(fast, what_libipt_is_not_asked_about_every_day_is_left_to_it)
{
	static const struct {
		const char *bytes, *why;
		size_t len;
	} rare[] = {
		{ "\x99\x22", "an aborted transaction", 2 },
		{ "\x02\x12\1\2\3\4", "a PTWRITE without an address", 6 },
		{ "\x02\x43\0\0\0\0\0\0", "another address space while tracing is on", 8 },
		{ "\x02\x83", "another address space while tracing is on", 2 },
		{ "\x02\x23", "a packet that is out of place", 2 },
		{ "\x02\xa3\0\0\0\0\0\0", "a TNT without an end", 8 },
		{ "\x0d", "a TIP without an address", 1 },
		{ "\x6d\0\0\0\0\0\0", "a branch to address 0", 7 },
		{ "\x06", "a return without a call", 1 },
		{ "\x04", "a return that is not taken", 1 },
		{ "\x06\x01", "a return without a call", 2 },
	};
	size_t i;

	for (i = 0; i < sizeof(rare) / sizeof(*rare); i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		pt_psb_on(&b, 0x1024);
		put(&b, rare[i].bytes, rare[i].len);
		expect(&b, rare[i].why);
	}
}

Test(fast, an_overflow_with_nothing_behind_it_takes_what_is_in_front_away)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1016);
	pt_ip(&b, PT_TIP, 0x1005);
	pt_ovf(&b);
	expect(&b, "an overflow at the end");
}

Test(fast, tracing_begins_in_no_mode_that_was_not_told)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_ip(&b, PT_PGE, 0x1010);
	expect(&b, "a TIP.PGE before any mode");

	/* A mode from in front of a PSB+ without a mode is not used behind it. */
	b = (struct ptc_buf)PTC_BUF_INIT;
	pt_psb_on(&b, 0x1010);
	pt_ip_none(&b, PT_PGD);
	pt_psb_off(&b);
	pt_ip(&b, PT_PGE, 0x1010);
	expect(&b, "a TIP.PGE before any mode");

	b = (struct ptc_buf)PTC_BUF_INIT;
	pt_psb_off(&b);
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x1010);
	expect(&b, "an overflow before any mode");
}

Test(fast, tracing_does_not_end_in_front_of_where_an_event_was)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x100d);
	pt_mode_tsx(&b, false, false);
	pt_ip_none(&b, PT_PGD);
	pt_ip(&b, PT_FUP, 0x33ffffff);
	expect(&b, "an event without an address");
}

Test(fast, no_branch_comes_in_front_of_where_an_event_was)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1003);
	PUT(&b, "\x02\x92\1\2\3\4"); /* PTW, with a FUP to follow */
	pt_tnt(&b, "TT");
	pt_ip(&b, PT_TIP, 0x1002);
	pt_tnt(&b, "T");
	expect(&b, "an event without an address");
}

/*
 * A row of jumps to the next instruction, twice as many as a block has. In the middle a jne leads
 * to LOOP; a jmp *%rax is at the end.
 */
enum { LOOP = 0x1000, JNE = LOOP + 2 * PTC_FAST_MAX_RECS, INDIRECT = JNE + 2 + JNE - LOOP };

static size_t read_jumps(const void *ctx, uint64_t ip, uint8_t *out, size_t len)
{
	uint8_t code[INDIRECT + 2 - LOOP] = { 0 };
	size_t i;

	(void)ctx;
	for (i = 0; i < sizeof(code); i += 2)
		code[i] = 0xeb;
	memcpy(code + JNE - LOOP, (uint8_t[]){ 0x75, (uint8_t)(LOOP - JNE - 2) }, 2);
	memcpy(code + INDIRECT - LOOP, (uint8_t[]){ 0xff, 0xe0 }, 2);
	for (i = 0; i < len && ip - LOOP + i < sizeof(code); i++)
		out[i] = code[ip - LOOP + i];
	return i;
}

/* Counts the branches of each kind in @b. */
static void run_jumps(const struct ptc_buf *b, bool counts, uint64_t kinds[PTC_KIND_COUNT])
{
	const struct ptc_fast_source source = { read_jumps, NULL };
	struct ptc_fast_chains chains;
	struct ptc_fast_hand *hand;
	struct ptc_fast_code code;
	struct ptc_fast f;
	size_t i;

	cr_assert(ptc_fast_code_init(&code) && ptc_fast_chains_init(&chains));
	hand = ptc_fast_hand_new(&code, &source);
	cr_assert(hand);
	ptc_fast_init(&f, hand, &chains);
	f.counts = counts;
	ptc_fast_begin(&f, b->bytes, b->len, 0);
	cr_assert_eq(ptc_fast_run(&f), PTC_FAST_AT_END, "%s", f.flow.why);
	cr_assert(hand->chains);
	cr_assert_eq(chains.counts, counts);
	cr_assert_eq(counts, f.flow.nrecs < 1000, "%zu are listed", f.flow.nrecs);
	ptc_fast_flow_count(&f.flow);
	memcpy(kinds, f.flow.kinds, sizeof(f.flow.kinds));
	for (i = 0; i < PTC_KIND_COUNT; i++)
		f.flow.ncounted -= kinds[i];
	cr_assert_eq(f.flow.ncounted, 0);
	ptc_fast_release(&f);
	ptc_fast_chains_release(&chains);
	ptc_fast_code_release(&code);
}

Test(fast, transfers_are_counted_as_they_are_listed)
{
	uint64_t listed[PTC_KIND_COUNT], counted[PTC_KIND_COUNT];
	const size_t laps = 10000; /* many times the number of branches counted before a flush */
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i;

	pt_psb_on(&b, LOOP);
	for (i = 0; i < laps; i++)
		pt_tnt(&b, "TTTTTT");
	for (i = 0; i < 10; i++) {
		pt_tnt(&b, "TTTNTT"); /* two are behind the address */
		pt_ip(&b, PT_TIP, LOOP);
	}
	/* It ends behind a jump of a chain, which turns out to be the exit. */
	pt_tnt(&b, "TTTTTN");
	pt_ip(&b, PT_PGD, INDIRECT);
	for (i = 0; i < 32; i++)
		PUT(&b, "\0");
	run_jumps(&b, false, listed);
	run_jumps(&b, true, counted);
	for (i = 0; i < PTC_KIND_COUNT; i++)
		cr_assert_eq(counted[i], listed[i], "%zu: %lu, not %lu", i, counted[i], listed[i]);
	cr_assert_eq(counted[PTC_KIND_JCC], 6 * laps + 55); /* 11 times 5 */
	cr_assert_eq(counted[PTC_KIND_IJMP], 10);
	ptc_buf_release(&b);
}

Test(fast, whatever_runs_it_comes_to_the_end)
{
	unsigned int i;

	for (i = 0; i < FEWER(16, 6); i++) {
		struct ptc_buf b = PTC_BUF_INIT;
		struct fl_walk w = { .b = &b, .seed = i };

		fl_walk(&w, 4000);
		expect(&b, NULL);
	}
}

Test(fast, cut_anywhere_it_lists_what_libipt_does)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct fl_walk w = { .b = &b, .seed = 99 };
	struct pt_how how = { .insns = false };
	size_t len;

	fl_walk(&w, 300);
	for (len = 0; len < b.len; len += PT_CUT_STEP)
		(void)pt_replay_bytes(b.bytes, len, &how);
	ptc_buf_release(&b);
}

Test(fast, with_a_bit_flipped_anywhere_it_lists_what_libipt_does)
{
	struct pt_how how = { .insns = false };
	unsigned int seed;
	size_t i;

	for (seed = 100; seed < 102; seed++) {
		struct ptc_buf b = PTC_BUF_INIT;
		struct fl_walk w = { .b = &b, .seed = seed };

		fl_walk(&w, 200);
		for (i = 0; i < b.len * 8; i += PT_FLIP_STEP) {
			b.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
			(void)pt_replay(&b, &how);
			b.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		}
		ptc_buf_release(&b);
	}
}
