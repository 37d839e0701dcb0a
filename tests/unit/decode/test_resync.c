/* SPDX-License-Identifier: MIT */
/* Description: gaps, their causes and extents, and where decoding goes on. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/libipt/resync.h"
#include "lib_pt.h"

enum { NOWHERE = 0x5000 }; /* no code there */

/* A stream with gaps of known extent: from[i] to to[i]. */
struct trial {
	struct ptc_buf b;
	size_t from[8], to[8];
	int n;
};

static void gap_begins(struct trial *t)
{
	t->from[t->n] = t->b.len;
}

static void gap_ends(struct trial *t)
{
	t->to[t->n++] = t->b.len;
}

/* In @lines, every $ stands for the next gap's offset and length. */
static void expect(struct trial *t, struct pt_how how, const char *lines)
{
	const char *got = pt_replay(&t->b, &how);
	size_t len = 0;
	char *want;
	FILE *f = open_memstream(&want, &len);
	int i = 0;

	for (; *lines; lines++) {
		if (*lines != '$') {
			fputc(*lines, f);
			continue;
		}
		fprintf(f, "%zx %zx", t->from[i], t->to[i] - t->from[i]);
		i++;
	}
	fclose(f);
	cr_assert_eq(i, t->n);
	cr_assert_str_eq(got, want, "got:\n%swant:\n%s", got, want);
	free(want);
	ptc_buf_release(&t->b);
}

/* Adds a PSB at a syscall, which leaves the traced code. */
static void syscall_at_psb(struct trial *t)
{
	pt_psb_on(&t->b, 0x1014);
	pt_ip_none(&t->b, PT_PGD);
}

/* Adds a bit that rep movsb and syscall cannot use: a gap begins with it. */
static void take_nothing(struct trial *t)
{
	pt_psb_on(&t->b, 0x1014);
	gap_begins(t);
	pt_tnt(&t->b, "T");
}

/* Adds a jump to an address without code, behind which a gap begins. */
static void jump_nowhere(struct trial *t)
{
	pt_psb_on(&t->b, 0x100b);
	pt_ip(&t->b, PT_TIP, NOWHERE);
	gap_begins(t);
}

static const struct pt_how packet, psb = { .psb = true };

Test(resync, code_that_cannot_be_had_is_a_gap_to_the_next_ip_that_has_code)
{
	struct trial t = { .n = 0 };

	jump_nowhere(&t);
	pt_tnt(&t.b, "TNT");
	pt_ip(&t.b, PT_TIP, NOWHERE + 16);
	gap_ends(&t);
	pt_ip(&t.b, PT_TIP, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	expect(&t, packet, "100b 5000 ijmp\ngap $ nocode\n1016 0 syscall\n");
}

Test(resync, the_compressed_ip_of_the_point_to_go_on_at_is_understood)
{
	struct trial t = { .n = 0 };

	pt_psb_on(&t.b, PT_HIGH + 0x100b);
	pt_ip16(&t.b, PT_TIP, NOWHERE);
	gap_begins(&t);
	pt_tnt(&t.b, "TNT");
	gap_ends(&t);
	pt_ip16(&t.b, PT_TIP, 0x100b);
	pt_ip16(&t.b, PT_TIP, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	expect(&t, packet,
	       "7f000000100b 7f0000005000 ijmp\ngap $ nocode\n7f000000100b 7f0000001014 ijmp\n"
	       "7f0000001016 0 syscall\n");
}

Test(resync, only_a_psb_will_do_when_asked_for)
{
	struct trial t = { .n = 0 };

	jump_nowhere(&t);
	pt_ip(&t.b, PT_TIP, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	pt_enable(&t.b, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	gap_ends(&t);
	syscall_at_psb(&t);
	expect(&t, psb, "100b 5000 ijmp\ngap $ nocode\n1016 0 syscall\n");
}

/* An interrupt, which may abort a transaction, comes first behind a gap. */
static void expect_async(bool aborts)
{
	struct trial t = { .n = 0 };

	take_nothing(&t);
	gap_ends(&t);
	if (aborts)
		pt_mode_tsx(&t.b, false, true);
	pt_ip(&t.b, PT_FUP, 0x1002);
	pt_ip(&t.b, PT_TIP, 0x1024);
	pt_ip_none(&t.b, PT_PGD);
	expect(&t, packet, "gap $ desync\n1002 1024 async\n1025 0 ret\n");
}

Test(resync, an_interrupt_behind_a_gap_is_told)
{
	expect_async(false);
}

Test(resync, an_abort_behind_a_gap_is_told)
{
	expect_async(true);
}

/* If the FUP belonged to an event, the event would take the next TIP. */
static void go_on_at_psb_rest(bool more)
{
	struct trial t = { .n = 0 };

	take_nothing(&t);
	pt_mode_exec64(&t.b);
	gap_ends(&t);
	pt_ip(&t.b, PT_FUP, 0x1000);
	if (more) {
		pt_mode_tsx(&t.b, false, false);
		pt_cbr(&t.b, 20);
		pt_tsc(&t.b, 8400);
	}
	pt_psbend(&t.b);
	pt_tnt(&t.b, "TT");
	pt_ip(&t.b, PT_TIP, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	expect(&t, packet,
	       "gap $ desync\n1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\n1025 100b ret\n"
	       "100b 1014 ijmp\n1016 0 syscall\n");
}

Test(resync, what_is_left_of_a_psb_is_a_point_to_go_on_at)
{
	go_on_at_psb_rest(false);
	go_on_at_psb_rest(true);
}

Test(resync, being_switched_on_behind_a_gap_is_a_start)
{
	struct trial t = { .n = 0 };

	take_nothing(&t);
	pt_ip_none(&t.b, PT_PGD);
	pt_mode_exec64(&t.b);
	gap_ends(&t);
	pt_ip16(&t.b, PT_PGE, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	expect(&t, packet, "gap $ desync\n0 1014 start\n1016 0 syscall\n");
}

Test(resync, an_overflow_behind_a_gap_is_a_gap_of_its_own)
{
	struct trial t = { .n = 0 };

	take_nothing(&t);
	gap_ends(&t);
	gap_begins(&t);
	gap_ends(&t);
	pt_ovf(&t.b);
	pt_ip(&t.b, PT_FUP, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	expect(&t, packet, "gap $ desync\ngap $ overflow\n1016 0 syscall\n");
}

Test(resync, behind_bytes_that_are_no_packet_only_a_psb_is_certain)
{
	struct trial t = { .n = 0 };

	pt_psb_on(&t.b, 0x100b);
	pt_ip(&t.b, PT_TIP, 0x100b);
	gap_begins(&t);
	pt_ip(&t.b, PT_TIP, 0x100b); /* libipt loses the packet in front of the damage */
	ptc_buf_le16(&t.b, 0xff02);
	pt_ip(&t.b, PT_TIP, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	gap_ends(&t);
	syscall_at_psb(&t);
	expect(&t, packet, "100b 100b ijmp\ngap $ badpacket\n1016 0 syscall\n");
}

Test(resync, switched_on_while_on_goes_on_there)
{
	struct trial t = { .n = 0 };

	pt_psb_on(&t.b, 0x100b);
	pt_ip(&t.b, PT_TIP, 0x100b); /* here the end of the first half was lost */
	gap_begins(&t);
	gap_ends(&t);
	pt_ip(&t.b, PT_PGE, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	expect(&t, packet, "100b 100b ijmp\ngap $ desync\n0 1014 start\n1016 0 syscall\n");
}

Test(resync, gaps_follow_each_other_and_the_last_reaches_to_the_end)
{
	struct trial t = { .n = 0 };

	jump_nowhere(&t);
	gap_ends(&t);
	pt_ip(&t.b, PT_TIP, 0x100b);
	pt_ip(&t.b, PT_TIP, NOWHERE);
	gap_begins(&t);
	pt_tnt(&t.b, "NNN");
	gap_ends(&t);
	expect(&t, packet, "100b 5000 ijmp\ngap $ nocode\n100b 5000 ijmp\ngap $ nocode\n");
}

Test(resync, points_that_lead_nowhere_are_one_gap)
{
	struct trial t = { .n = 0 };
	int i;

	jump_nowhere(&t);
	for (i = 0; i < 100; i++)
		pt_ip(&t.b, PT_TIP, 0x1022 + 0x17); /* the last byte of the code is at 1038 */
	gap_ends(&t);
	syscall_at_psb(&t);
	expect(&t, packet, "100b 5000 ijmp\ngap $ nocode\n1016 0 syscall\n");
}

Test(resync, the_time_is_known_again_behind_a_gap)
{
	const struct ptc_time_conv conv = { .shift = 0, .mult = 1, .zero = 0 };
	struct trial t = { .n = 0 };

	pt_psb_on_at(&t.b, 100, 0x100b);
	pt_ip(&t.b, PT_TIP, NOWHERE);
	gap_begins(&t);
	pt_tsc(&t.b, 200);
	gap_ends(&t);
	pt_ip(&t.b, PT_TIP, 0x100b);
	pt_ip_none(&t.b, PT_PGD);
	t.from[0] += 8; /* libipt had read the time already */
	expect(&t, (struct pt_how){ .conv = &conv },
	       "@100 100b 5000 ijmp\n@100 gap $ nocode\n@200 100b 0 ijmp\n");
}

Test(resync, packets_in_front_of_the_first_psb_are_a_gap_and_padding_is_not)
{
	struct trial t = { .n = 0 };

	gap_begins(&t);
	pt_ip(&t.b, PT_TIP, 0x1014);
	gap_ends(&t);
	syscall_at_psb(&t);
	expect(&t, packet, "gap $ desync\n1016 0 syscall\n");
	t = (struct trial){ .n = 0 };
	ptc_buf_zero(&t.b, 12);
	syscall_at_psb(&t);
	ptc_buf_zero(&t.b, 12);
	expect(&t, packet, "1016 0 syscall\n");
}

Test(resync, a_stream_without_a_psb_is_one_gap)
{
	struct trial t = { .n = 0 };

	gap_begins(&t);
	pt_ip(&t.b, PT_TIP, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	gap_ends(&t);
	expect(&t, packet, "gap $ desync\n");
}

Test(resync, a_packet_that_is_cut_off_is_a_gap)
{
	struct trial t = { .n = 0 };

	pt_psb_on(&t.b, 0x100b);
	pt_ip(&t.b, PT_TIP, 0x100b);
	gap_begins(&t);
	ptc_buf_u8(&t.b, PT_TIP | 3 << 5);
	ptc_buf_u8(&t.b, 0x14);
	gap_ends(&t);
	expect(&t, packet, "100b 100b ijmp\ngap $ badpacket\n");
}

Test(resync, two_spans_are_decoded_apart_and_what_is_missing_between_is_told)
{
	struct ptc_buf a = PTC_BUF_INIT, b = PTC_BUF_INIT;
	static const struct ptc_mark marks[] = { { 0x122, PTC_GAP_TRUNCATED, 0 } };
	struct pt_how how = { .marks = marks, .nmarks = 1 };
	struct ptc_span spans[2];
	const struct ptc_stream stream = { .spans = spans, .n = 2 };

	pt_psb_on(&a, 0x100b);
	pt_ip(&a, PT_TIP, 0x100b);
	pt_psb_on(&b, 0x1014);
	pt_ip_none(&b, PT_PGD);
	spans[0] = (struct ptc_span){ .bytes = a.bytes, .len = a.len, .base = 0x100 };
	spans[1] =
		(struct ptc_span){ .bytes = b.bytes, .len = b.len, .base = 0x800, .lost = 0x6de };
	cr_assert_eq(spans[0].base + a.len + spans[1].lost, spans[1].base);
	cr_assert_str_eq(pt_replay_stream(&stream, &how),
			 "100b 100b ijmp\ngap 122 0 truncated\ngap 122 6de lost\n"
			 "1016 0 syscall\n");
	ptc_buf_release(&a);
	ptc_buf_release(&b);
}

Test(resync, a_bad_packet_costs_nothing_of_the_bits_in_front_of_it)
{
	struct trial t = { .n = 0 };

	pt_psb_on(&t.b, 0x1000);
	pt_tnt(&t.b, "TT");
	gap_begins(&t);
	ptc_buf_put(&t.b, "\x02\xff\xff", 3);
	gap_ends(&t);
	expect(&t, packet,
	       "1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\n1025 100b ret\ngap $ badpacket\n");
}

Test(resync, what_an_event_told_counts_though_the_next_one_cannot_be_read)
{
	struct trial t = { .n = 0 };

	pt_psb_off(&t.b);
	pt_enable(&t.b, 0x1016);
	gap_begins(&t);
	pt_ip_none(&t.b, PT_PGD);
	ptc_buf_put(&t.b, "\x02\xff\xff", 3);
	gap_ends(&t);
	expect(&t, packet, "0 1016 start\ngap $ badpacket\n");
}

Test(resync, a_psb_ends_what_seems_to_be_a_packet)
{
	struct trial t = { .n = 0 };

	pt_psb_on(&t.b, 0x100b);
	ptc_buf_u8(&t.b, PT_TIP | 3 << 5); /* six bytes should follow */
	ptc_buf_u8(&t.b, 0x14);
	gap_begins(&t);
	gap_ends(&t);
	syscall_at_psb(&t);
	expect(&t, packet, "gap $ desync\n1016 0 syscall\n");
}

Test(resync, a_psb_says_where_the_flow_is)
{
	struct trial t = { .n = 0 };

	pt_psb_on(&t.b, 0x100b); /* a TIP is missing there */
	gap_begins(&t);
	gap_ends(&t);
	pt_psb_on(&t.b, 0x1024);
	pt_ip(&t.b, PT_TIP, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	/* libipt 2.0 notices only after it took the next TIP. */
	expect(&t, packet,
	       PT_BY_LIBIPT("100b 1014 ijmp\ngap $ desync\n1025 1014 ret\n1016 0 syscall\n",
			    "gap $ desync\n1025 1014 ret\n1016 0 syscall\n"));
}

Test(resync, a_psb_says_whether_tracing_is_on)
{
	struct trial t = { .n = 0 };

	pt_psb_on(&t.b, 0x100b); /* a TIP.PGD is missing there */
	gap_begins(&t);
	gap_ends(&t);
	pt_psb(&t.b);
	pt_mode_exec64(&t.b);
	pt_psbend(&t.b);
	pt_enable(&t.b, 0x1014);
	pt_ip_none(&t.b, PT_PGD);
	expect(&t, psb, "gap $ desync\n0 1014 start\n1016 0 syscall\n");
}
