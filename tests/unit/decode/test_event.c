/* SPDX-License-Identifier: MIT */
/* Description: events other than branches are listed among the branches. */
#include <criterion/criterion.h>
#include <string.h>

#include "replayed.h"

static void expect(struct ptc_buf *b, const char *lines)
{
	replay_expect(b, (struct pt_how){ .events = true }, lines);
}

static void put(struct ptc_buf *b, const char *bytes, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		ptc_buf_u8(b, (uint8_t)bytes[i]);
}

Test(event, tracing_goes_on_before_its_start_and_is_off_behind_its_exit)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1016);
	pt_ip_none(&b, PT_PGD);
	expect(&b, "event enabled 1016 0\n0 1016 start\n1016 0 syscall\nevent disabled 0 0\n");
}

Test(event, an_overflow_is_a_gap_and_an_event)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1003);
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	expect(&b, "gap 1b 0 overflow\nevent overflow 1016 0\n1016 0 syscall\n"
		   "event disabled 0 0\n");
}

Test(event, power_and_frequency)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	put(&b, "\x02\x03\x1c\0", 4);	      /* CBR 28 */
	put(&b, "\x02\x22\0\x34", 4);	      /* PWRE: state 3.4 */
	put(&b, "\x02\x62", 2);		      /* EXSTOP */
	put(&b, "\x02\xa2\x65\x04\0\0\0", 7); /* PWRX: 6, deepest 5; woken by a store */
	expect(&b, "event cbr 0 1c\nevent pwre 0 403\n"
		   "event exstop 0 0\nevent pwrx 0 20506\n");
}

/* The FUP belongs to the EXSTOP, which follows an MWAIT (SDM vol. 3, "MWAIT Packet"). */
Test(event, mwait_is_where_the_fup_of_its_exstop_says)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1003);
	put(&b, "\x02\xc2\x21\0\0\0\x03\0\0\0", 10); /* hints, extensions */
	put(&b, "\x02\xe2", 2);
	pt_ip(&b, PT_FUP, 0x1006);
	pt_ip_none(&b, PT_PGD);
	expect(&b, "1003 1006 jmp\nevent mwait 1006 300000021\nevent exstop 1006 0\n1006 1024 "
		   "call\n1025 0 ret\n"
		   "event disabled 0 0\n");
}

Test(event, a_transaction_and_its_abort)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1003);
	pt_mode_tsx(&b, true, false);
	pt_ip(&b, PT_FUP, 0x1006);
	pt_mode_tsx(&b, false, true);
	pt_ip(&b, PT_FUP, 0x1024);
	pt_ip(&b, PT_TIP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	expect(&b, "1003 1006 jmp\nevent tsx-begin 1006 0\n1006 1024 call\n"
		   "event tsx-abort 1024 0\n1024 1016 async\n1016 0 syscall\n"
		   "event disabled 0 0\n");
}

Test(event, it_is_listed_behind_the_transfer_in_front_of_it)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1006);
	put(&b, "\x02\x92\x78\x56\x34\x12", 6); /* PTW, 4 bytes, FUP follows */
	pt_ip(&b, PT_FUP, 0x1006);
	pt_ip_none(&b, PT_PGD);
	expect(&b, "1006 1024 call\nevent ptwrite 1006 12345678\n1025 0 ret\n"
		   "event disabled 0 0\n");
}

Test(event, a_jump_to_what_an_event_is_about_is_listed)
{
	struct pt_how insns = { .insns = true };
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1003);
	put(&b, "\x02\x92\x78\x56\x34\x12", 6);
	pt_ip(&b, PT_FUP, 0x1006);
	pt_ip_none(&b, PT_PGD);
	cr_assert_str_eq(pt_replay(&b, &insns), "1003\n1006\n1024\n1025\n");
	expect(&b, "1003 1006 jmp\n1006 1024 call\nevent ptwrite 1006 12345678\n1025 0 ret\n"
		   "event disabled 0 0\n");
}

Test(event, nobody_who_did_not_ask_is_told)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct pt_how how = { .events = false };

	pt_psb_off(&b);
	put(&b, "\x02\x03\x1c\0", 4);
	cr_assert_str_eq(pt_replay(&b, &how), "");
	ptc_buf_release(&b);
}
