/* SPDX-License-Identifier: MIT */
/*
 * Description: pieces of trace through the second engine in place of libipt. pt_replay holds what
 * comes out, with its times, against libipt alone, and aborts.
 */
#include <criterion/criterion.h>

#include "lib_flow.h"
#include "lib_pt.h"

static const struct ptc_time_conv one_ns = { .shift = 0, .mult = 1, .zero = 0 };

static struct pt_how timed(unsigned int mtc_freq)
{
	return (struct pt_how){
		.conv = &one_ns,
		.params = { .mtc_freq = (uint8_t)mtc_freq, .tsc_ctc_n = 168, .tsc_ctc_d = 2 },
	};
}

static void begin(struct ptc_buf *b, uint64_t tsc)
{
	pt_psb(b);
	pt_tsc(b, tsc);
	pt_tma(b, (uint16_t)(tsc / FL_CTC_TICKS), 0);
	pt_mode_exec64(b);
	pt_ip(b, PT_FUP, 0x100b);
	pt_psbend(b);
}

static void jump(struct ptc_buf *b)
{
	pt_ip(b, PT_TIP, 0x100b);
}

/* What @b (released) has is @lines, and @pieces of it are the engine's. */
static void expect(struct ptc_buf *b, struct pt_how how, uint64_t pieces, const char *lines)
{
	const char *got = pt_replay(b, &how);

	cr_assert_str_eq(got, lines, "got:\n%swant:\n%s", got, lines);
	cr_assert_eq(how.pieces, pieces, "%d pieces", (int)how.pieces);
	ptc_buf_release(b);
}

Test(piece, a_branch_has_the_time_of_the_packet_of_the_one_before)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(&b, 8400);
	jump(&b);
	pt_mtc(&b, 13);
	jump(&b);
	jump(&b);
	begin(&b, 9408);
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	expect(&b, timed(3), 1,
	       "@8400 100b 100b ijmp\n@8400 100b 100b ijmp\n@8736 100b 100b ijmp\n"
	       "@9408 100b 100b ijmp\n@9408 100b 0 ijmp\n");
}

Test(piece, an_event_s_time_counts_from_the_last_branch_on)
{
	struct ptc_buf b = PTC_BUF_INIT;

	begin(&b, 8400);
	jump(&b);
	pt_mtc(&b, 13);
	pt_ip(&b, PT_FUP, 0x100b);
	pt_ip_none(&b, PT_PGD);
	pt_mtc(&b, 14);
	pt_enable(&b, 0x100b);
	jump(&b);
	begin(&b, 9996);
	pt_ip_none(&b, PT_PGD);
	expect(&b, timed(3), 1,
	       "@8400 100b 100b ijmp\n@8736 100b 0 async\n@9408 0 100b start\n"
	       "@9408 100b 100b ijmp\n@9996 100b 0 ijmp\n");
}

Test(piece, what_it_cannot_tell_is_libipt_s)
{
	static const uint8_t cfe[] = { 0x02, 0x13, 0x01, 0x02 };
	struct ptc_buf b = PTC_BUF_INIT;
	struct pt_how how = timed(3);

	how.disorder = true;

	begin(&b, 8400);
	pt_cyc(&b, 5);
	jump(&b);
	begin(&b, 9408);
	jump(&b);
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x100b);
	begin(&b, 10416);
	jump(&b);
	ptc_buf_put(&b, cfe, sizeof(cfe));
	begin(&b, 11424);
	jump(&b);
	pt_tsc(&b, 84); /* time went back */
	jump(&b);
	begin(&b, 12432);
	jump(&b);
	begin(&b, 13440);
	pt_ip_none(&b, PT_PGD);
	expect(&b, how, 1,
	       "@8400 100b 100b ijmp\n@9408 gap 63 0 overflow\n@10416 gap 96 b badpacket\n"
	       "@11424 100b 100b ijmp\n@11424 100b 100b ijmp\n@12432 100b 100b ijmp\n"
	       "@13440 100b 0 ijmp\n");
}

Test(piece, whatever_runs_times_are_those_of_libipt)
{
	static const uint8_t freqs[] = { 0, 3, 8, 9, 12 };
	unsigned int i;

	for (i = 0; i < 20; i++) {
		const unsigned int freq = freqs[i % sizeof(freqs)];
		struct ptc_buf b = PTC_BUF_INIT;
		struct fl_walk w = {
			.b = &b, .seed = i, .timed = true, .mtc_freq = freq, .ctc = 1000000
		};
		struct pt_how how = timed(freq);

		fl_walk(&w, 4000);
		(void)pt_replay(&b, &how);
		cr_assert_gt(how.pieces, 0, "%d: %d pieces", (int)i, (int)how.pieces);
		ptc_buf_release(&b);
	}
}

static void flip_each_bit(uint64_t seed)
{
	struct pt_how how = timed(3);
	struct ptc_buf b = PTC_BUF_INIT;
	struct fl_walk w = { .b = &b, .seed = seed, .timed = true, .mtc_freq = 3, .ctc = 1000 };
	size_t i;

	how.disorder = true;
	fl_walk(&w, 250);
	begin(&b, 1000000);
	for (i = 0; i < b.len * 8; i++) {
		b.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		(void)pt_replay(&b, &how);
		b.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	ptc_buf_release(&b);
}

Test(piece, with_a_bit_flipped_anywhere_what_comes_out_is_libipt_s)
{
#ifdef __SANITIZE_ADDRESS__ /* seconds each, without it */
	static const uint64_t seeds[] = { 7 };
#else
	static const uint64_t seeds[] = { 7, 9, 13 };
#endif
	size_t i;

	for (i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
		flip_each_bit(seeds[i]);
}

Test(piece, cut_anywhere_what_comes_out_is_libipt_s)
{
	struct pt_how how = timed(9);
	struct ptc_buf b = PTC_BUF_INIT;
	struct fl_walk w = { .b = &b, .seed = 99, .timed = true, .mtc_freq = 9, .ctc = 70000 };
	size_t len;

	fl_walk(&w, 400);
	for (len = 0; len < b.len; len++)
		(void)pt_replay_bytes(b.bytes, len, &how);
	ptc_buf_release(&b);
}
