/* SPDX-License-Identifier: MIT */
/*
 * Description: decoding begins anew at a PSB that the flow reaches, after any trace in front of it.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lib_pt.h"

static void pt_mode_exec32(struct ptc_buf *b)
{
	ptc_buf_le16(b, 0x0299);
}

/* Decodes @b (released); the result must be the lines @front, then @behind. */
static void expect_behind(struct ptc_buf *b, struct pt_how how, const char *front,
			  const char *behind)
{
	const char *got = pt_replay(b, &how);

	cr_assert(!strncmp(got, front, strlen(front)), "got:\n%swant in front:\n%s", got, front);
	cr_assert_str_eq(got + strlen(front), behind, "got:\n%swant behind:\n%s%s", got, front,
			 behind);
	ptc_buf_release(b);
}

static const struct pt_how plain, events = { .events = true };

/* Leads to the PSB at 100b, over a FUP whose TIP is lost. */
static void lose_a_tip(struct ptc_buf *b)
{
	pt_psb_on(b, 0x1000);
	pt_ip(b, PT_FUP, 0x1024);
	pt_tnt(b, "TT");
}

static const char to_100b[] = "1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\n1025 100b ret\n";

Test(psb_tracker, a_fup_in_front_of_a_psb_does_not_take_the_tip_behind_it)
{
	struct ptc_buf b = PTC_BUF_INIT;

	lose_a_tip(&b);
	pt_psb_on(&b, 0x100b);
	pt_ip(&b, PT_TIP, 0x100e);
	pt_ip(&b, PT_TIP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	expect_behind(
		&b, plain, to_100b,
		PT_BY_LIBIPT(
			"",
			"gap 23 0 desync\n") "100b 100e ijmp\n100e 1016 icall\n1016 0 syscall\n");
}

Test(psb_tracker, returns_behind_a_psb_do_not_go_where_calls_in_front_of_it_came_from)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1006); /* a call, and a second call whose return is lost */
	pt_psb_on(&b, 0x1024);
	pt_tnt(&b, "T");
	pt_psb_on(&b, 0x1014);
	pt_ip_none(&b, PT_PGD);
	expect_behind(&b, plain, "1006 1024 call\n", "gap 37 0 desync\n1016 0 syscall\n");
}

Test(psb_tracker, what_waits_for_a_fup_does_not_take_that_of_an_event_behind_the_psb)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1016);
	pt_ip_none(&b, PT_PGD);
	ptc_buf_le16(&b, 0xe202); /* EXSTOP, whose FUP is lost */
	pt_psb_off(&b);
	pt_enable(&b, 0x1000);
	pt_ip(&b, PT_FUP, 0x1000);
	pt_ip(&b, PT_TIP, 0x1014);
	pt_ip_none(&b, PT_PGD);
	expect_behind(
		&b, plain, "1016 0 syscall\n",
		PT_BY_LIBIPT(
			"", "gap 1c 2 desync\n") "0 1000 start\n1000 1014 async\n1016 0 syscall\n");
}

Test(psb_tracker, events_around_a_psb_where_tracing_is_off_are_told_once)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int i;

	pt_psb_on(&b, 0x1016);
	for (i = 0; i < 2; i++) {
		pt_ip_none(&b, PT_PGD);
		pt_cbr(&b, 10);
		ptc_buf_le32(&b, 0x00002202);			    /* PWRE */
		ptc_buf_put(&b, "\x02\xa2\x00\x00\x00\x00\x00", 7); /* PWRX */
		pt_psb_off(&b);
		pt_psb_off(&b);
		ptc_buf_put(&b, "\x02\xa2\x00\x00\x00\x00\x00", 7);
		pt_psb_off(&b);
		pt_enable(&b, 0x1016);
	}
	pt_ip_none(&b, PT_PGD);
	expect_behind(&b, events, "1016 0 syscall\n",
		      "event disabled 0 0\nevent cbr 0 a\nevent pwre 0 0\nevent pwrx 0 0\n"
		      "event pwrx 0 0\nevent enabled 1016 0\n0 1016 start\n1016 0 syscall\n"
		      "event disabled 0 0\nevent cbr 0 a\nevent pwre 0 0\nevent pwrx 0 0\n"
		      "event pwrx 0 0\nevent enabled 1016 0\n0 1016 start\n1016 0 syscall\n"
		      "event disabled 0 0\n");
}

Test(psb_tracker, a_psb_where_tracing_is_off_tells_that_a_pgd_is_missing)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char behind[100];
	size_t at;

	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "TT");
	at = b.len;
	pt_psb_off(&b);
	pt_psb_off(&b);
	pt_enable(&b, 0x1014);
	pt_ip_none(&b, PT_PGD);
	(void)snprintf(behind, sizeof(behind), "gap %zx 0 desync\n0 1014 start\n1016 0 syscall\n",
		       at);
	expect_behind(&b, (struct pt_how){ .psb = true }, to_100b, behind);
}

/* Turns a PSB into PADs. */
static void drop_psb(struct ptc_buf *b, size_t at)
{
	memset(b->bytes + at, 0, PTC_PSB_LEN);
}

Test(psb_tracker, a_psb_that_is_gone_is_told_of_and_its_fup_is_no_event)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char behind[160];
	size_t at;

	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "TT");
	at = b.len;
	pt_psb_on(&b, 0x100b); /* the flow comes there, and an event would be possible */
	drop_psb(&b, at);
	pt_ip(&b, PT_TIP, 0x100e);
	pt_ip(&b, PT_TIP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	(void)snprintf(behind, sizeof(behind),
		       "gap %zx 0 desync\n100b 100e ijmp\n100e 1016 icall\n1016 0 syscall\n",
		       at + PTC_PSB_LEN);
	expect_behind(&b, plain,
		      "1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\n" PT_BY_LIBIPT(
			      "", "1025 100b ret\n"),
		      behind);
}

Test(psb_tracker, a_psb_that_is_gone_where_tracing_is_off_costs_nothing_and_is_told_of)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char gap[40];
	size_t at;

	pt_psb_on(&b, 0x1016);
	pt_ip_none(&b, PT_PGD);
	at = b.len;
	pt_psb_off(&b);
	drop_psb(&b, at);
	pt_enable(&b, 0x1014);
	pt_ip_none(&b, PT_PGD);
	(void)snprintf(gap, sizeof(gap), "gap %zx 0 desync\n",
		       at); /* where it is read: ahead of the flow */
	expect_behind(&b, plain, gap, "1016 0 syscall\n0 1014 start\n1016 0 syscall\n");
}

Test(psb_tracker, a_mode_that_is_wrong_does_not_spoil_the_code_for_the_right_one)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb(&b);
	pt_mode_exec32(&b);
	pt_ip(&b, PT_FUP, 0x101b);
	pt_psbend(&b);
	pt_ip(&b, PT_TIP, 0x1016); /* in that mode 101c is an iret */
	pt_ip_none(&b, PT_PGD);
	pt_psb_off(&b);
	pt_enable(&b, 0x101b);
	pt_ip(&b, PT_TIP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	expect_behind(&b, plain, "101c 1016 iret\n1016 0 syscall\n",
		      "0 101b start\n101b 1016 iret\n1016 0 syscall\n");
}

Test(psb_tracker, a_time_in_front_of_a_psb_is_not_later_than_there)
{
	const struct ptc_time_conv conv = { .shift = 0, .mult = 1, .zero = 0 };
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb(&b);
	pt_tsc(&b, 100);
	pt_psbend(&b);
	pt_enable(&b, 0x1000);
	pt_tnt(&b, "TT");
	pt_tsc(&b, 5000); /* wrong */
	pt_ip_none(&b, PT_PGD);
	pt_psb(&b);
	pt_tsc(&b, 200);
	pt_psbend(&b);
	pt_enable(&b, 0x1016);
	pt_ip_none(&b, PT_PGD);
	pt_psb(&b);
	pt_tsc(&b, 1000);
	pt_psbend(&b);
	expect_behind(&b, (struct pt_how){ .conv = &conv },
		      "@100 0 1000 start\n@100 1000 1003 jcc\n@100 1003 1006 jmp\n"
		      "@100 1006 1024 call\n@100 1025 100b ret\n@200 100b 0 ijmp\n",
		      "@200 0 1016 start\n@200 1016 0 syscall\n");
}

Test(psb_tracker, what_is_left_of_a_psb_behind_damage_does_not_end_the_gap_in_front_of_it)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1000);
	pt_ip16(&b, PT_PGE, 0x1016); /* tracing is on already */
	pt_psbend(&b);
	pt_ip_none(&b, PT_PGD);
	expect_behind(&b, plain, "",
		      "gap 1b 0 desync\n0 1016 start\ngap 1e 0 desync\n1016 0 syscall\n");
}

Test(psb_tracker, what_was_left_of_a_psb_does_not_hide_what_is_in_front_of_it)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const char *got;
	struct pt_how how = plain;

	pt_psb_on(&b, 0x1008);
	pt_enable(&b, 0x101d);
	pt_ip(&b, PT_TIP, 0x101d);
	pt_ip(&b, PT_FUP, 0x1000);
	pt_mode_exec64(&b);
	pt_ip(&b, PT_FUP, 0x1008); /* its PSB is lost */
	pt_psbend(&b);
	pt_enable(&b, 0x101d);
	pt_ip(&b, PT_TIP, 0x1000);
	pt_tnt(&b, "T");
	pt_ip_none(&b, PT_PGD);
	got = pt_replay_parts(&b, 13, &how);
	cr_assert_str_eq(got,
			 "gap 1b 2 desync\n0 101d start\ngap 32 d desync\n0 101d start\n"
			 "101d 1000 sysret\n1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\n"
			 "1025 0 ret\n",
			 "%s", got);
	ptc_buf_release(&b);
}

/* Both engines read the packets behind a PSB up to the one at which they fail. */
Test(psb_tracker, what_is_no_packet_far_behind_a_psb_begins_the_gap_at_the_psb)
{
	static const uint8_t bad[] = { 0x02, 0xff };
	struct ptc_buf b = PTC_BUF_INIT;
	char want[200];
	struct pt_how how = plain;
	const char *got;
	size_t psb, next;
	int i;

	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "T");
	psb = b.len;
	pt_psb_on(&b, 0x1025);
	for (i = 0; i < 700; i++)
		pt_mtc(&b, (uint8_t)i);
	ptc_buf_put(&b, bad, sizeof(bad));
	next = b.len;
	pt_psb_on(&b, 0x1016);
	pt_ip_none(&b, PT_PGD);
	got = pt_replay(&b, &how);
	(void)snprintf(want, sizeof(want), "1000 1003 jcc\ngap %zx %zx badpacket\n1016 0 syscall\n",
		       psb, next - psb);
	cr_assert_str_eq(got, want, "%s", got);
	ptc_buf_release(&b);
}
