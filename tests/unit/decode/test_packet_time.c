/* SPDX-License-Identifier: MIT */
/* Description: the time of each item, from each kind of timing packet. */
#include <criterion/criterion.h>

#include "replayed.h"

/* A tick is 1 ns. An MTC is 8 ticks of the crystal, of 84 ticks each: 672 apart. */
static const struct ptc_time_conv one_ns = { .shift = 0, .mult = 1, .zero = 0 };
static const struct pt_how mtc = {
	.conv = &one_ns,
	.params = { .mtc_freq = 3, .tsc_ctc_n = 168, .tsc_ctc_d = 2 },
};
/* The nominal ratio is 20: at 10, a cycle is two ticks. */
static const struct pt_how cyc = {
	.conv = &one_ns,
	.params = { .mtc_freq = 3, .tsc_ctc_n = 168, .tsc_ctc_d = 2, .nom_freq = 20 },
};

/*
 * The time is @tsc, @fc ticks behind tick @ctc of the crystal; tracing begins at 100b, a jump to
 * itself.
 */
static void begin(struct ptc_buf *b, uint64_t tsc, uint16_t ctc, uint16_t fc, uint8_t ratio)
{
	pt_psb(b);
	pt_tsc(b, tsc);
	pt_tma(b, ctc, fc);
	if (ratio)
		pt_cbr(b, ratio);
	pt_psbend(b);
	pt_enable(b, 0x100b);
}

static void jump(struct ptc_buf *b)
{
	pt_ip(b, PT_TIP, 0x100b);
}

Test(packet_time, an_mtc_counts_from_the_crystal_s_tick_in_front_of_the_tsc)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(&b, 10000, 16, 40, 0);
	pt_mtc(&b, 3);
	jump(&b);
	pt_mtc(&b, 4);
	pt_mtc(&b, 5);
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, mtc,
		      "@10000 0 100b start\n@10000 100b 100b ijmp\n"
		      "@10632 100b 100b ijmp\n" /* 10000 - 40 + 672 */
		      "@11976 100b 0 ijmp\n");
}

Test(packet_time, the_crystal_s_counter_wraps)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(&b, 10000, 254 << 3, 0, 0);
	pt_mtc(&b, 255);
	jump(&b);
	pt_mtc(&b, 0);
	jump(&b);
	pt_mtc(&b, 2); /* one was dropped */
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, mtc,
		      "@10000 0 100b start\n@10000 100b 100b ijmp\n@10672 100b 100b ijmp\n"
		      "@11344 100b 100b ijmp\n@12688 100b 0 ijmp\n");
}

Test(packet_time, ticks_become_nanoseconds_as_the_recording_says)
{
	const struct ptc_time_conv conv = { .shift = 1, .mult = 3, .zero = 7 };
	struct pt_how how = mtc;
	struct ptc_buf b = PTC_BUF_INIT;

	how.conv = &conv;
	begin(&b, 10000, 16, 40, 0);
	pt_mtc(&b, 3);
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(
		&b, how,
		"@15007 0 100b start\n@15007 100b 100b ijmp\n@15955 100b 0 ijmp\n"); /* 10632 */
}

Test(packet_time, cycles_count_by_the_ratio_of_the_core)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(&b, 10000, 16, 40, 10);
	pt_cyc(&b, 7);
	jump(&b);
	pt_cyc(&b, 50);
	jump(&b);
	pt_cbr(&b, 40); /* half a tick */
	pt_cyc(&b, 5000);
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, cyc,
		      "@10000 0 100b start\n@10000 100b 100b ijmp\n@10014 100b 100b ijmp\n"
		      "@10114 100b 100b ijmp\n@12614 100b 0 ijmp\n");
}

Test(packet_time, cycles_count_by_what_there_were_between_two_mtcs)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(&b, 10000, 16, 0, 0); /* no ratio is known */
	pt_mtc(&b, 3);
	pt_cyc(&b, 336);
	jump(&b);
	pt_mtc(&b, 4); /* 672 ticks are 336 cycles */
	jump(&b);
	pt_cyc(&b, 10);
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, mtc,
		      "@10000 0 100b start\n@10000 100b 100b ijmp\n@10672 100b 100b ijmp\n"
		      "@11344 100b 100b ijmp\n@11364 100b 0 ijmp\n");
}

Test(packet_time, an_estimate_that_was_too_high_makes_it_stand_still)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(&b, 10000, 16, 0, 10);
	pt_cyc(&b, 400);
	jump(&b);
	pt_mtc(&b, 3);
	jump(&b);
	pt_cyc(&b, 50); /* 10772 */
	jump(&b);
	pt_cyc(&b, 50);
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, cyc,
		      "@10000 0 100b start\n@10000 100b 100b ijmp\n@10800 100b 100b ijmp\n"
		      "@10800 100b 100b ijmp\n@10800 100b 100b ijmp\n@10872 100b 0 ijmp\n");
}

Test(packet_time, a_tsc_that_is_far_behind_is_believed)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct pt_how how = { .conv = &one_ns, .disorder = true };

	pt_psb(&b);
	pt_tsc(&b, 1ull << 40); /* a bit was flipped */
	pt_psbend(&b);
	pt_enable(&b, 0x100b);
	pt_tsc(&b, 10000);
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(
		&b, how,
		"@1099511627776 0 100b start\n@1099511627776 100b 100b ijmp\n@10000 100b 0 ijmp\n");
}

Test(packet_time, behind_a_gap_it_goes_on)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(&b, 10000, 16, 40, 10);
	pt_mtc(&b, 3);
	jump(&b);
	pt_ip(&b, PT_TIP, 0x5000);
	pt_mtc(&b, 4);
	jump(&b);
	pt_cyc(&b, 1000); /* from the last TSC on: 12000 */
	jump(&b);
	pt_mtc(&b, 6);
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, cyc,
		      "@10000 0 100b start\n@10000 100b 100b ijmp\n@10632 100b 5000 ijmp\n"
		      "@10632 gap 40 0 nocode\n@11304 100b 100b ijmp\n@12000 100b 100b ijmp\n"
		      "@12648 100b 0 ijmp\n"); /* 10000 - 40 + 4 * 672 */
}

Test(packet_time, behind_a_gap_in_which_the_crystal_s_counter_went_round_it_does_not_go_back)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int i;

	begin(&b, 10000, 16, 0, 0);
	pt_mtc(&b, 3);
	jump(&b);
	pt_ip(&b, PT_TIP, 0x5000);
	for (i = 4; i < 300; i++)
		pt_mtc(&b, (uint8_t)i);
	jump(&b);
	pt_mtc(&b, (uint8_t)i); /* the decoder begins here, and cannot know the count */
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, mtc,
		      "@10000 0 100b start\n@10000 100b 100b ijmp\n@10672 100b 5000 ijmp\n"
		      "@10672 gap 28a 0 nocode\n@209584 100b 100b ijmp\n@209584 100b 0 ijmp\n");
}

Test(packet_time, without_a_tsc_there_is_none)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x100b);
	pt_mtc(&b, 3);
	jump(&b);
	pt_mtc(&b, 4);
	jump(&b);
	pt_ip(&b, PT_TIP, 0x5000);
	pt_mtc(&b, 5);
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	replay_expect(&b, mtc,
		      "@- 0 100b start\n@- 100b 100b ijmp\n@- 100b 100b ijmp\n@- 100b 5000 ijmp\n"
		      "@- gap 36 0 nocode\n@- 100b 0 ijmp\n");
}
