/* SPDX-License-Identifier: MIT */
/* Description: what libipt takes of the trace, told from its bytes. */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/feed.h"
#include "lib_pt.h"

/* @b with bytes behind it that are no packets of the flow; what comes first was taken. */
static struct ptc_feed feed_of(struct ptc_buf *b, size_t first)
{
	size_t i;

	for (i = 0; i < PTC_FEED_MARGIN; i++)
		ptc_buf_u8(b, 0);
	return (struct ptc_feed){ .next = b->bytes + first,
				  .limit = b->bytes + b->len - PTC_FEED_MARGIN };
}

Test(feed, bits_and_addresses_are_taken_packet_by_packet)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_feed f;

	pt_tnt(&b, "TN");
	pt_ip(&b, PT_TIP, 0x1000);
	pt_tnt(&b, "T");
	f = feed_of(&b, 0);
	cr_assert_eq(ptc_feed_take_bit(&f), 1);
	cr_assert(f.next == b.bytes + 1 && f.bits == 1);
	cr_assert_eq(ptc_feed_take_bit(&f), 0);
	cr_assert(f.next == b.bytes + 1 && f.bits == 0);
	ptc_feed_take_return(&f); /* one that is not compressed */
	cr_assert(f.next == b.bytes + 8 && f.bits == 0);
	cr_assert_eq(ptc_feed_take_bit(&f), 1);
	cr_assert_not(ptc_feed_is_known(&f), "what is behind it may be of any kind");
	ptc_buf_release(&b);
}

Test(feed, a_return_takes_a_bit_where_there_is_one)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_feed f;
	int i;

	pt_tnt(&b, "TTN");
	pt_tnt(&b, "T");
	f = feed_of(&b, 0);
	ptc_feed_take_return(&f);
	cr_assert_not(ptc_feed_is_known(&f), "nor is a call known that it goes back to");
	f = feed_of(&b, 0);
	for (i = 0; i < 3; i++)
		ptc_feed_push(&f);
	ptc_feed_take_return(&f);
	cr_assert(f.next == b.bytes + 1 && f.bits == 2);
	ptc_feed_take_return(&f);
	cr_assert(f.next == b.bytes + 1 && f.bits == 1);
	ptc_feed_take_return(&f);
	cr_assert_not(ptc_feed_is_known(&f), "the bit is not set");
	ptc_buf_release(&b);
}

Test(feed, the_bits_of_a_long_packet_come_in_their_order)
{
	static const uint8_t tnt64[] = { 0x02, 0xa3, 0x0d, 0x00, 0x00, 0x00, 0x00, 0x01 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_feed f;
	int i;

	ptc_buf_put(&b, tnt64, sizeof(tnt64));
	pt_tnt(&b, "N");
	f = feed_of(&b, 0);
	/* 40 bits behind the highest one: 0...01101. */
	for (i = 39; i >= 0; i--)
		cr_assert_eq(ptc_feed_take_bit(&f), 0x0d >> (i < 8 ? i : 8) & 1, "bit %d", i);
	cr_assert_eq(ptc_feed_take_bit(&f), 0);
	ptc_buf_release(&b);
}

Test(feed, an_address_is_not_known_while_there_are_bits)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_feed f;

	pt_tnt(&b, "TN");
	pt_ip(&b, PT_TIP, 0x1000);
	f = feed_of(&b, 0);
	ptc_feed_take_bit(&f);
	ptc_feed_take_ip(&f);
	cr_assert_not(ptc_feed_is_known(&f));
	ptc_buf_release(&b);
}

Test(feed, other_packets_must_be_asked_for)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_feed f;

	pt_tnt(&b, "TT");
	pt_mtc(&b, 1);
	pt_tnt(&b, "T");
	f = feed_of(&b, 0);
	ptc_feed_take_bit(&f);
	cr_assert_not(ptc_feed_is_known(&f), "it has read on over the MTC packet");
	/* It says that it did: the last bit may bring an event with it. */
	f.late = true;
	ptc_feed_go_on(&f, b.bytes + 3, 1);
	cr_assert(ptc_feed_is_known(&f));
	ptc_feed_take_bit(&f);
	cr_assert_not(ptc_feed_is_known(&f));
	ptc_buf_release(&b);
}

Test(feed, the_last_bit_may_just_be_taken_in_front_of_a_packet_of_the_flow)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_feed f;

	pt_tnt(&b, "TT");
	pt_tnt(&b, "N");
	f = feed_of(&b, 0);
	cr_assert_not(ptc_feed_has_bit(&f));
	ptc_feed_take_bit(&f);
	cr_assert(ptc_feed_has_bit(&f));
	cr_assert_eq(ptc_feed_pop_bit(&f), 1);
	cr_assert(ptc_feed_is_known(&f) && !f.bits && !ptc_feed_has_bit(&f));
	cr_assert_eq(ptc_feed_take_bit(&f), 0);
	ptc_buf_release(&b);
}

Test(feed, the_last_bit_in_front_of_another_packet_may_not)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_feed f;

	pt_tnt(&b, "TT");
	pt_mtc(&b, 1);
	pt_tnt(&b, "T");
	f = feed_of(&b, 0);
	ptc_feed_go_on(&f, b.bytes + 1, 1); /* the MTC packet is still to be read */
	cr_assert_not(ptc_feed_has_bit(&f));
	f.late = true;
	ptc_feed_go_on(&f, b.bytes + 3, 2); /* it has been */
	cr_assert(ptc_feed_has_bit(&f));
	(void)ptc_feed_pop_bit(&f);
	cr_assert_not(ptc_feed_has_bit(&f));
	ptc_buf_release(&b);
}

/* What was read late is told of with a bit: which one, only libipt knows. */
Test(feed, with_something_late_a_packet_is_asked_for)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_feed f;

	pt_tnt(&b, "TT");
	pt_tnt(&b, "N");
	f = feed_of(&b, 0);
	ptc_feed_take_tnt(&f);
	cr_assert(ptc_feed_is_known(&f));
	f = feed_of(&b, 0);
	f.late = true;
	ptc_feed_take_tnt(&f);
	cr_assert_not(ptc_feed_is_known(&f));
	ptc_buf_release(&b);
}

Test(feed, nothing_is_known_from_the_limit_on)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_feed f;

	pt_tnt(&b, "TTTTTT TTTTTT");
	f = feed_of(&b, 0);
	f.limit = b.bytes + 1;
	ptc_feed_take_bit(&f);
	cr_assert_not(ptc_feed_is_known(&f));
	ptc_buf_release(&b);
}

Test(feed, behind_a_fup_an_address_may_be_of_its_event)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_feed f;

	pt_tnt(&b, "N");
	pt_tnt(&b, "N");
	pt_ip(&b, PT_TIP, 0x1000);
	f = feed_of(&b, 0);
	f.fup = true;
	ptc_feed_take_bit(&f);
	cr_assert(ptc_feed_is_known(&f), "bits are nobody else's");
	ptc_feed_take_bit(&f);
	cr_assert_not(ptc_feed_is_known(&f));
	ptc_buf_release(&b);
}

/* libipt reads the event's TIP with the last bit, wherever the event is. */
Test(feed, a_fup_whose_tip_is_behind_branches_is_where_it_is_step_by_step)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct pt_how how = { 0 };
	const char *got;

	pt_psb_on(&b, 0x102f);
	pt_tnt(&b, "N");
	pt_ip(&b, PT_FUP, 0x1000);
	pt_tnt(&b, "N");
	pt_tnt(&b, "N");
	pt_ip(&b, PT_TIP, 0x100b);
	pt_tnt(&b, "N");
	pt_ip(&b, PT_TIP, 0x1014);
	pt_psb_on(&b, 0x100b);
	pt_ip_none(&b, PT_PGD);
	got = pt_replay(&b, &how);
	cr_assert_str_eq(got,
			 "1033 102f call\n1033 102f call\n1033 102f call\n"
			 "gap 2c 1 desync\ngap 34 0 desync\n100b 0 ijmp\n",
			 "%s", got);
	ptc_buf_release(&b);
}

/* A call that needs an address skips bits in front of it, whatever libipt has in its cache. */
Test(feed, a_call_that_skips_bits_to_no_address_is_a_gap)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct pt_how how = { 0 };
	const char *got;

	pt_psb_on(&b, 0x100e);
	pt_ip(&b, PT_TIP, 0x100e);
	pt_ip(&b, PT_TIP, 0x100e);
	pt_tnt(&b, "T");
	pt_mtc(&b, 1);
	pt_ip_none(&b, PT_TIP);
	pt_ip(&b, PT_TIP, 0x102f);
	pt_psb_on(&b, 0x100b);
	pt_ip_none(&b, PT_PGD);
	got = pt_replay(&b, &how);
	cr_assert_str_eq(got,
			 "100e 100e icall\n100e 100e icall\n"
			 "gap 29 4 desync\ngap 34 0 desync\n100b 0 ijmp\n",
			 "%s", got);
	ptc_buf_release(&b);
}

/* Bits in front of an address are not the branches': libipt keeps them all for those that follow.
 */
Test(feed, bits_that_an_address_is_taken_over_stay)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct pt_how how = { 0 };
	const char *got;

	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "NT");
	pt_ip(&b, PT_TIP, 0x1003);
	pt_tnt(&b, "T");
	pt_tnt(&b, "TNNT");
	pt_ip(&b, PT_TIP, 0x1000);
	pt_tnt(&b, "NT");
	pt_ip(&b, PT_TIP, 0x1014);
	pt_psb_on(&b, 0x100b);
	pt_ip_none(&b, PT_PGD);
	got = pt_replay(&b, &how);
	cr_assert_str_eq(got,
			 "1003 1006 jmp\n1006 1024 call\n1025 100b ret\n100b 1003 ijmp\n"
			 "1003 1006 jmp\n1006 1024 call\n1025 100b ret\n100b 1000 ijmp\n"
			 "1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\n"
			 "gap 2c 1 desync\ngap 34 0 desync\n100b 0 ijmp\n",
			 "%s", got);
	ptc_buf_release(&b);
}
