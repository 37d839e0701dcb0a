/* SPDX-License-Identifier: MIT */
/* Description: the contents of a PSB+, and the packets around it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "decode/stream/psb.h"
#include "lib_pt.h"

/* Returns the first @len bytes of @b, at the end of an allocation. */
static uint8_t *exact_copy(const struct ptc_buf *b, size_t len)
{
	uint8_t *exact = malloc(len ? len : 1);

	cr_assert_not_null(exact);
	memcpy(exact, b->bytes, len);
	return exact;
}

static struct ptc_psb_plus read_cut(const struct ptc_buf *b, size_t len)
{
	uint8_t *exact = exact_copy(b, len);
	const struct ptc_psb_plus p = ptc_psb_read(exact, len);

	free(exact);
	return p;
}

static bool find_rest(const uint8_t *bytes, size_t psbend, struct ptc_psb_rest *ret)
{
	struct ptc_psb_walk w;

	ptc_psb_walk_begin(&w, 0);
	return ptc_psb_find_rest(&w, bytes, psbend, ret);
}

static bool is_packet(const uint8_t *bytes, size_t psb, size_t to)
{
	struct ptc_psb_walk w;

	ptc_psb_walk_begin(&w, 0);
	return ptc_psb_is_packet(&w, bytes, psb, to);
}

Test(psb_plus, it_tells_whether_tracing_is_on_and_in_which_mode)
{
	struct ptc_buf on = PTC_BUF_INIT, off = PTC_BUF_INIT;
	struct ptc_psb_plus p;

	pt_psb_on(&on, 0x1000);
	pt_tnt(&on, "T");
	p = read_cut(&on, on.len);
	cr_assert(p.whole && p.mode && p.ip);
	pt_psb_off(&off);
	pt_enable(&off, 0x1000);
	p = read_cut(&off, off.len);
	cr_assert(p.whole && !p.mode && !p.ip);
	ptc_buf_release(&on);
	ptc_buf_release(&off);
}

Test(psb_plus, it_is_not_whole_if_it_is_cut_anywhere_or_an_overflow_came)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i;

	pt_psb_on(&b, 0x1000);
	for (i = 0; i < b.len; i++)
		cr_assert_not(read_cut(&b, i).whole, "%zu", i);
	ptc_buf_reset(&b);
	pt_psb(&b);
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x1000);
	pt_psbend(&b);
	cr_assert_not(read_cut(&b, b.len).whole);
	cr_assert_not(read_cut(&b, b.len).ip);
	ptc_buf_release(&b);
}

Test(psb_plus, events_in_front_of_it_are_those_of_packets_that_are_of_no_psb)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i;

	pt_tnt(&b, "TN");
	pt_ip(&b, PT_TIP, 0x1000);
	pt_psb_on(&b, 0x1000);
	pt_mtc(&b, 1);
	pt_mode_exec64(&b);
	ptc_buf_le16(&b, 0xe202); /* EXSTOP, which waits for its FUP */
	cr_assert_not(ptc_psb_has_event_before(b.bytes, 0, b.len));
	i = b.len;
	pt_ip(&b, PT_FUP, 0x1000);
	cr_assert(ptc_psb_has_event_before(b.bytes, 0, b.len));
	cr_assert_not(ptc_psb_has_event_before(b.bytes, 0, i));
	ptc_buf_reset(&b);
	pt_ip(&b, PT_FUP, 0x1000); /* waits for its TIP */
	cr_assert_not(ptc_psb_has_event_before(b.bytes, 0, b.len));
	pt_ip(&b, PT_TIP, 0x1000);
	cr_assert(ptc_psb_has_event_before(b.bytes, 0, b.len));
	ptc_buf_reset(&b);
	pt_ip_none(&b, PT_PGD);
	cr_assert(ptc_psb_has_event_before(b.bytes, 0, b.len));
	/* Unreadable bytes may be anything. */
	for (i = 1; i < PTC_PSB_LEN; i++)
		cr_assert(ptc_psb_has_event_before(ptc_psb, 0, i), "%zu", i);
	ptc_buf_release(&b);
}

Test(psb_plus, what_is_left_of_one_without_its_psb_is_found)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_psb_rest rest;
	size_t at, end, i;

	pt_tnt(&b, "TN");
	at = b.len;
	pt_tsc(&b, 1);
	pt_mode_exec64(&b);
	pt_ip(&b, PT_FUP, 0x1000);
	end = b.len;
	pt_psbend(&b);
	cr_assert(find_rest(b.bytes, end, &rest));
	cr_assert(rest.ip);
	cr_assert_eq(rest.at, at);
	for (i = 1; i < end; i++) { /* as far as packets end there */
		uint8_t *exact = exact_copy(&b, i);

		if (find_rest(exact, i, &rest))
			cr_assert_leq(rest.at, i);
		free(exact);
	}
	pt_psbend(&b); /* another one, with nothing in front */
	cr_assert(find_rest(b.bytes, b.len - PTC_PSBEND_LEN, &rest));
	cr_assert_not(rest.ip);
	cr_assert_eq(rest.at, b.len - PTC_PSBEND_LEN);
	ptc_buf_release(&b);
}

Test(psb_plus, a_fup_in_front_of_what_is_left_is_an_events)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_psb_rest rest;
	size_t at;

	pt_ip(&b, PT_FUP, 0x1000);
	at = b.len;
	pt_tsc(&b, 1);
	pt_ip(&b, PT_FUP, 0x1003);
	cr_assert(find_rest(b.bytes, b.len, &rest));
	cr_assert(rest.ip);
	cr_assert_eq(rest.at, at);
	ptc_buf_release(&b);
}

Test(psb_plus, nothing_is_left_of_one_that_is_whole_or_that_an_overflow_cut_short)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_psb_rest rest;

	pt_psb_on(&b, 0x1000);
	cr_assert_not(find_rest(b.bytes, b.len - PTC_PSBEND_LEN, &rest));
	ptc_buf_reset(&b);
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x1000);
	cr_assert_not(find_rest(b.bytes, b.len, &rest));
	pt_tnt(&b, "T");
	cr_assert(find_rest(b.bytes, b.len, &rest));
	ptc_buf_release(&b);
}

Test(psb_plus, what_was_read_behind_ptc_psb_is_a_branch_or_an_event)
{
	static const struct {
		uint8_t bytes[8];
		size_t len, want;
	} cases[] = {
		{ { 0x59, 4 }, 2, SIZE_MAX },			/* MTC */
		{ { 0x59, 4, 0x3d, 0xf3, 0xb7 }, 5, SIZE_MAX }, /* a FUP: switched out there */
		{ { 0x59, 4, 0x3d, 0xf3, 0xb7, 0x01 }, 6, SIZE_MAX }, /* with its TIP.PGD */
		{ { 0x59, 4, 0x06 }, 3, 1 },			      /* TNT */
		{ { 0x59, 4, 0x2d, 0xf3, 0xb7 }, 5, 1 },	      /* TIP */
	};
	uint8_t bytes[64] = { 0 };
	size_t i, at;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		at = 1;
		memcpy(bytes + at, ptc_psb, sizeof(ptc_psb));
		at += sizeof(ptc_psb);
		bytes[at++] = 2;
		bytes[at++] = 0x23;
		memcpy(bytes + at, cases[i].bytes, cases[i].len);
		at += cases[i].len;
		cr_assert_eq(ptc_psb_left_behind(bytes, 0, at, true), cases[i].want, "%zu", i);
		cr_assert_eq(ptc_psb_left_behind(bytes, 0, at, false), 1, "%zu", i);
	}
}

/* A TSC packet ends like a PSB begins: the number of such bytes decides. */
Test(psb_plus, it_may_begin_in_front_of_the_packet_that_it_follows)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i, len;

	ptc_buf_put(&b, "\x68\x19\x68\x19", 4);
	for (i = 0; i < 13; i++)
		ptc_buf_put(&b, "\x82\x02", 2);
	for (len = 5 + PTC_PSB_LEN; len <= b.len; len++) {
		uint8_t *exact = exact_copy(&b, len);

		cr_assert_eq(is_packet(exact, 5, len), len >= 9 + PTC_PSB_LEN);
		free(exact);
	}
	ptc_buf_release(&b);
}

/* One walk from place to place gives the same results as a new walk for each place. */
Test(psb_plus, a_walk_goes_on_from_place_to_place)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_psb_rest one, other;
	struct ptc_psb_walk w;
	size_t at;
	int i;

	for (i = 0; i < 5; i++) {
		pt_tnt(&b, "TN");
		pt_tsc(&b, 0x2302230223);
		pt_mode_exec64(&b);
		pt_ip(&b, PT_FUP, 0x1000);
		pt_psbend(&b);
		pt_psbend(&b);
		pt_psb_on(&b, 0x1000);
		pt_ovf(&b);
		pt_ip(&b, PT_FUP, 0x2302230223);
		pt_psbend(&b);
	}
	ptc_psb_walk_begin(&w, 0);
	for (at = 0; at + PTC_PSBEND_LEN <= b.len; at++) {
		const bool is = find_rest(b.bytes, at, &one);

		if (b.bytes[at] != 0x02 || b.bytes[at + 1] != 0x23)
			continue;
		cr_assert_eq(ptc_psb_find_rest(&w, b.bytes, at, &other), is, "%zu", at);
		cr_assert(!is || (one.at == other.at && one.ip == other.ip), "%zu", at);
		cr_assert_eq(is_packet(b.bytes, at, b.len), w.at == at, "%zu", at);
	}
	ptc_buf_release(&b);
}

Test(psb_plus, an_idle_one_tells_of_time_alone)
{
	struct ptc_buf b = PTC_BUF_INIT;
	size_t end;

	ptc_buf_put(&b, ptc_psb, PTC_PSB_LEN);
	pt_tsc(&b, 1);
	pt_psbend(&b);
	end = b.len;
	cr_assert(ptc_psb_is_idle(b.bytes, 0, end));
	pt_ovf(&b);
	cr_assert_not(ptc_psb_is_idle(b.bytes, 0, b.len));
	cr_assert(ptc_psb_is_idle(b.bytes, 0, end));
	cr_assert_not(ptc_psb_is_idle(b.bytes, 0, end - 1));
	cr_assert_not(ptc_psb_is_idle((const uint8_t *)"\x02\x03\x10\0", 0, 4)); /* CBR */
	ptc_buf_release(&b);
}
