/* SPDX-License-Identifier: MIT */
/* Description: the packets that libipt takes from the trace are known from the bytes. */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/libipt/packet_cursor.h"
#include "replayed.h"

/* Each test has a process of its own. */
static struct ptc_buf b;
static struct ptc_packet_cursor f;

static void release(void)
{
	ptc_buf_release(&b);
}

TestSuite(packet_cursor, .fini = release);

/* Reads @b from its first byte. Zeros behind the limit are not packets of the flow. */
static void begin(void)
{
	if (!f.next)
		ptc_buf_zero(&b, PTC_PACKET_CURSOR_MARGIN);
	f = (struct ptc_packet_cursor){ .next = b.bytes,
					.limit = b.bytes + b.len - PTC_PACKET_CURSOR_MARGIN };
}

/* Two bits, an MTC packet, and a bit; reading begins at the first. */
static void begin_with_mtc(void)
{
	pt_tnt(&b, "TT");
	pt_mtc(&b, 1);
	pt_tnt(&b, "T");
	begin();
}

/* Two bits, and another packet with one; reading begins at the first. */
static void begin_with_bits(void)
{
	pt_tnt(&b, "TT");
	pt_tnt(&b, "N");
	begin();
}

Test(packet_cursor, bits_and_addresses_are_taken_packet_by_packet)
{
	pt_tnt(&b, "TN");
	pt_ip(&b, PT_TIP, 0x1000);
	pt_tnt(&b, "T");
	begin();
	cr_assert_eq(ptc_packet_cursor_take_bit(&f), 1);
	cr_assert(f.next == b.bytes + 1 && f.bits == 1);
	cr_assert_eq(ptc_packet_cursor_take_bit(&f), 0);
	cr_assert(f.next == b.bytes + 1 && f.bits == 0);
	ptc_packet_cursor_take_return(&f); /* a return that is not compressed */
	cr_assert(f.next == b.bytes + 8 && f.bits == 0);
	cr_assert_eq(ptc_packet_cursor_take_bit(&f), 1);
	cr_assert_not(ptc_packet_cursor_is_known(&f), "what is behind it may be of any kind");
}

Test(packet_cursor, a_return_takes_a_bit_where_there_is_one)
{
	int i;

	pt_tnt(&b, "TTN");
	pt_tnt(&b, "T");
	begin();
	ptc_packet_cursor_take_return(&f);
	cr_assert_not(ptc_packet_cursor_is_known(&f), "nor is a call known that it goes back to");
	begin();
	for (i = 0; i < 3; i++)
		ptc_packet_cursor_push(&f);
	ptc_packet_cursor_take_return(&f);
	cr_assert(f.next == b.bytes + 1 && f.bits == 2);
	ptc_packet_cursor_take_return(&f);
	cr_assert(f.next == b.bytes + 1 && f.bits == 1);
	ptc_packet_cursor_take_return(&f);
	cr_assert_not(ptc_packet_cursor_is_known(&f), "the bit is not set");
}

Test(packet_cursor, the_bits_of_a_long_packet_come_in_their_order)
{
	static const uint8_t tnt64[] = { 0x02, 0xa3, 0x0d, 0x00, 0x00, 0x00, 0x00, 0x01 };
	int i;

	ptc_buf_put(&b, tnt64, sizeof(tnt64));
	pt_tnt(&b, "N");
	begin();
	/* 40 bits behind the highest one: 0...01101. */
	for (i = 39; i >= 0; i--)
		cr_assert_eq(ptc_packet_cursor_take_bit(&f), 0x0d >> (i < 8 ? i : 8) & 1, "bit %d",
			     i);
	cr_assert_eq(ptc_packet_cursor_take_bit(&f), 0);
}

Test(packet_cursor, an_address_is_not_known_while_there_are_bits)
{
	pt_tnt(&b, "TN");
	pt_ip(&b, PT_TIP, 0x1000);
	begin();
	ptc_packet_cursor_take_bit(&f);
	ptc_packet_cursor_take_ip(&f);
	cr_assert_not(ptc_packet_cursor_is_known(&f));
}

Test(packet_cursor, other_packets_must_be_asked_for)
{
	begin_with_mtc();
	ptc_packet_cursor_take_bit(&f);
	cr_assert_not(ptc_packet_cursor_is_known(&f), "it has read on over the MTC packet");
	/* The feed is marked late: the last bit may bring an event. */
	f.late = true;
	ptc_packet_cursor_go_on(&f, b.bytes + 3, 1);
	cr_assert(ptc_packet_cursor_is_known(&f));
	ptc_packet_cursor_take_bit(&f);
	cr_assert_not(ptc_packet_cursor_is_known(&f));
}

Test(packet_cursor, the_last_bit_may_just_be_taken_in_front_of_a_packet_of_the_flow)
{
	begin_with_bits();
	cr_assert_not(ptc_packet_cursor_has_bit(&f));
	ptc_packet_cursor_take_bit(&f);
	cr_assert(ptc_packet_cursor_has_bit(&f));
	cr_assert_eq(ptc_packet_cursor_pop_bit(&f), 1);
	cr_assert(ptc_packet_cursor_is_known(&f) && !f.bits && !ptc_packet_cursor_has_bit(&f));
	cr_assert_eq(ptc_packet_cursor_take_bit(&f), 0);
}

Test(packet_cursor, the_last_bit_in_front_of_another_packet_may_not)
{
	begin_with_mtc();
	ptc_packet_cursor_go_on(&f, b.bytes + 1, 1); /* the MTC packet is not read yet */
	cr_assert_not(ptc_packet_cursor_has_bit(&f));
	f.late = true;
	ptc_packet_cursor_go_on(&f, b.bytes + 3, 2); /* it is read */
	cr_assert(ptc_packet_cursor_has_bit(&f));
	(void)ptc_packet_cursor_pop_bit(&f);
	cr_assert_not(ptc_packet_cursor_has_bit(&f));
}

/* A packet read late is reported with some bit; only libipt knows which. */
Test(packet_cursor, with_something_late_a_packet_is_asked_for)
{
	begin_with_bits();
	ptc_packet_cursor_take_tnt(&f);
	cr_assert(ptc_packet_cursor_is_known(&f));
	begin();
	f.late = true;
	ptc_packet_cursor_take_tnt(&f);
	cr_assert_not(ptc_packet_cursor_is_known(&f));
}

Test(packet_cursor, nothing_is_known_from_the_limit_on)
{
	pt_tnt(&b, "TTTTTT TTTTTT");
	begin();
	f.limit = b.bytes + 1;
	ptc_packet_cursor_take_bit(&f);
	cr_assert_not(ptc_packet_cursor_is_known(&f));
}

Test(packet_cursor, behind_a_fup_an_address_may_be_of_its_event)
{
	pt_tnt(&b, "N");
	pt_tnt(&b, "N");
	pt_ip(&b, PT_TIP, 0x1000);
	begin();
	f.fup = true;
	ptc_packet_cursor_take_bit(&f);
	cr_assert(ptc_packet_cursor_is_known(&f), "bits are nobody else's");
	ptc_packet_cursor_take_bit(&f);
	cr_assert_not(ptc_packet_cursor_is_known(&f));
}

/* Adds a PSB, where a jump leaves the traced code, and decodes: the result must be @lines. */
static void expect_then_jump(const char *lines)
{
	pt_psb_on(&b, 0x100b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, (struct pt_how){ .insns = false }, lines);
}

/* libipt reads the TIP of the event with the last bit, wherever the event is. */
Test(packet_cursor, a_fup_whose_tip_is_behind_branches_is_where_it_is_step_by_step)
{
	pt_psb_on(&b, 0x102f);
	pt_tnt(&b, "N");
	pt_ip(&b, PT_FUP, 0x1000);
	pt_tnt(&b, "N");
	pt_tnt(&b, "N");
	pt_ip(&b, PT_TIP, 0x100b);
	pt_tnt(&b, "N");
	pt_ip(&b, PT_TIP, 0x1014);
	expect_then_jump("1033 102f call\n1033 102f call\n1033 102f call\n"
			 "gap 2c 1 desync\ngap 34 0 desync\n100b 0 ijmp\n");
}

/* A call that needs an address skips the bits in front of it, for any state of libipt's cache. */
Test(packet_cursor, a_call_that_skips_bits_to_no_address_is_a_gap)
{
	pt_psb_on(&b, 0x100e);
	pt_ip(&b, PT_TIP, 0x100e);
	pt_ip(&b, PT_TIP, 0x100e);
	pt_tnt(&b, "T");
	pt_mtc(&b, 1);
	pt_ip_none(&b, PT_TIP);
	pt_ip(&b, PT_TIP, 0x102f);
	expect_then_jump(PT_BY_LIBIPT("100e 100e icall\n100e 100e icall\n"
				      "gap 29 4 desync\ngap 34 0 desync\n100b 0 ijmp\n",
				      "100e 100e icall\n100e 100e icall\n100e 0 icall\n"
				      "gap 29 4 nocode\ngap 34 0 desync\n100b 0 ijmp\n"));
}

/*
 * Bits in front of an address do not belong to the branches there: libipt keeps them for later
 * ones.
 */
Test(packet_cursor, bits_that_an_address_is_taken_over_stay)
{
	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "NT");
	pt_ip(&b, PT_TIP, 0x1003);
	pt_tnt(&b, "T");
	pt_tnt(&b, "TNNT");
	pt_ip(&b, PT_TIP, 0x1000);
	pt_tnt(&b, "NT");
	pt_ip(&b, PT_TIP, 0x1014);
	expect_then_jump("1003 1006 jmp\n1006 1024 call\n1025 100b ret\n100b 1003 ijmp\n"
			 "1003 1006 jmp\n1006 1024 call\n1025 100b ret\n100b 1000 ijmp\n"
			 "1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\n" PT_BY_LIBIPT(
				 "gap 2c 1 desync\ngap 34 0 desync\n100b 0 ijmp\n",
				 "gap 25 0 desync\n1003 1006 jmp\n1006 1024 call\n"
				 "1025 100b ret\n100b 1014 ijmp\ngap 34 0 desync\n100b 0 ijmp\n"));
}
