/* SPDX-License-Identifier: MIT */
/*
 * Description: pieces decoded by the second engine instead of libipt. pt_replay() compares the
 * result, with its times, with that of libipt alone, and aborts if they differ.
 */
#include <criterion/criterion.h>

#include "fewer.h"
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

static void begin_at(struct ptc_buf *b, uint64_t ip, uint64_t tsc)
{
	pt_psb(b);
	pt_tsc(b, tsc);
	pt_tma(b, (uint16_t)(tsc / FL_CTC_TICKS), 0);
	pt_mode_exec64(b);
	pt_ip(b, PT_FUP, ip);
	pt_psbend(b);
}

static void begin(struct ptc_buf *b, uint64_t tsc)
{
	begin_at(b, 0x100b, tsc);
}

static void jump(struct ptc_buf *b)
{
	pt_ip(b, PT_TIP, 0x100b);
}

/* The result for @b (released) must be @lines, and the engine must decode @pieces of it. */
static void expect(struct ptc_buf *b, struct pt_how how, uint64_t pieces, const char *lines)
{
	const char *got = pt_replay(b, &how);

	cr_assert_str_eq(got, lines, "got:\n%swant:\n%s", got, lines);
	cr_assert_eq(how.pieces, pieces, "%d pieces", (int)how.pieces);
	ptc_buf_release(b);
}

/* Makes @calls of 102f from 1033, leaves by je, makes @returns, and then a return to @to. */
static void recurse(struct ptc_buf *b, size_t calls, size_t returns, uint64_t to)
{
	char bits[16];
	size_t n = 0, k;

	for (k = 0; k < calls + 1 + returns; k++) {
		bits[n++] = k < calls ? 'N' : 'T';
		if (n == 6 || k == calls + returns) {
			bits[n] = '\0';
			pt_tnt(b, bits);
			n = 0;
		}
	}
	if (to)
		pt_ip(b, PT_TIP, to);
}

static void code_that_is_known(struct ptc_buf *b, size_t calls, size_t returns)
{
	size_t i;

	for (i = 0; i < 20; i++)
		recurse(b, calls, returns, 0x102f);
}

/* pt_replay() checks that the counts equal the listed branches. */
Test(segment, what_chains_lead_through_is_counted_as_it_is_listed)
{
	enum { STEP = FEWER(1, 2) };
	size_t calls, returns;

	for (calls = 1; calls < 20; calls++)
		for (returns = calls % STEP; returns < calls; returns += STEP) {
			struct pt_how how = { .insns = false };
			struct ptc_buf b = PTC_BUF_INIT;

			pt_psb_on(&b, 0x102f);
			code_that_is_known(&b, calls, returns);
			/*
			 * The last branch in front of a PSB, or of the end, is shown only behind
			 * it.
			 */
			recurse(&b, calls, returns, 0);
			pt_psb_on(&b, 0x1038);
			pt_ip(&b, PT_TIP, 0x102f);
			code_that_is_known(&b, calls, returns);
			recurse(&b, calls, returns, 0);
			pt_ip_none(&b, PT_PGD);
			pt_psb_off(&b);
			(void)pt_replay(&b, &how);
			cr_assert_eq(how.pieces, 2);
			ptc_buf_release(&b);
		}
}

/* libipt obeys each of them; pt_replay() checks that the gap is at the same place. */
Test(segment, two_modes_in_a_psb_are_libipts)
{
	static const uint8_t modes[] = { 0, 1, 2 };
	size_t i;

	for (i = 0; i < sizeof(modes); i++) {
		struct pt_how how = { .insns = false };
		struct ptc_buf b = PTC_BUF_INIT;

		pt_psb_on(&b, 0x100b);
		pt_ip(&b, PT_TIP, 0x100b);
		pt_psb(&b);
		ptc_buf_u8(&b, 0x99);
		ptc_buf_u8(&b, modes[i]);
		pt_mode_exec64(&b);
		pt_ip(&b, PT_FUP, 0x100b);
		pt_psbend(&b);
		pt_ip(&b, PT_TIP, 0x100b);
		pt_psb_on(&b, 0x100b);
		pt_ip_none(&b, PT_PGD);
		(void)pt_replay(&b, &how);
		cr_assert_eq(how.pieces, 0);
		ptc_buf_release(&b);
	}
}

Test(segment, a_branch_has_the_time_of_the_packet_of_the_one_before)
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

Test(segment, an_event_s_time_counts_from_the_last_branch_on)
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

Test(segment, what_it_cannot_tell_is_libipt_s)
{
	static const uint8_t none[] = { 0x02, 0xff };
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
	ptc_buf_put(&b, none, sizeof(none));
	begin(&b, 11424);
	jump(&b);
	pt_tsc(&b, 84); /* time went back */
	jump(&b);
	begin(&b, 12432);
	jump(&b);
	begin(&b, 13440);
	pt_ip_none(&b, PT_PGD);
	expect(&b, how, 1,
	       "@8400 100b 100b ijmp\n@9408 100b 100b ijmp\n@9408 gap 63 0 overflow\n"
	       "@10416 gap 96 9 badpacket\n"
	       "@11424 100b 100b ijmp\n@11424 100b 100b ijmp\n@12432 100b 100b ijmp\n"
	       "@13440 100b 0 ijmp\n");
}

Test(segment, whatever_runs_times_are_those_of_libipt)
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
	for (i = 0; i < b.len * 8; i += PT_FLIP_STEP) {
		b.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		(void)pt_replay(&b, &how);
		b.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	ptc_buf_release(&b);
}

Test(segment, with_a_bit_flipped_anywhere_what_comes_out_is_libipt_s)
{
#ifdef __SANITIZE_ADDRESS__ /* takes seconds each, even without it */
	static const uint64_t seeds[] = { 7 };
#else
	static const uint64_t seeds[] = { 7, 13 };
#endif
	size_t i;

	for (i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
		flip_each_bit(seeds[i]);
}

Test(segment, cut_anywhere_what_comes_out_is_libipt_s)
{
	struct pt_how how = timed(9);
	struct ptc_buf b = PTC_BUF_INIT;
	struct fl_walk w = { .b = &b, .seed = 99, .timed = true, .mtc_freq = 9, .ctc = 70000 };
	size_t len;

	fl_walk(&w, 400);
	for (len = 0; len < b.len; len += PT_CUT_STEP)
		(void)pt_replay_bytes(b.bytes, len, &how);
	ptc_buf_release(&b);
}

/* Complete packets, or packets that only begin an event. */
static const struct {
	uint8_t n, bytes[11];
} packets[] = {
	{ 1, { 0x06 } },				      /* TNT */
	{ 7, { 0x6d, 0x0b, 0x10 } },			      /* TIP */
	{ 1, { 0x0d } },				      /* without an address */
	{ 7, { 0x7d, 0x0b, 0x10 } },			      /* FUP */
	{ 7, { 0x7d, 0x00, 0x20 } },			      /* from elsewhere */
	{ 1, { 0x1d } },				      /* from nowhere */
	{ 7, { 0x71, 0x0b, 0x10 } },			      /* TIP.PGE */
	{ 1, { 0x11 } },				      /* TIP.PGE, nowhere */
	{ 7, { 0x61, 0x0b, 0x10 } },			      /* TIP.PGD */
	{ 1, { 0x01 } },				      /* TIP.PGD, suppressed */
	{ 2, { 0x99, 0x01 } },				      /* MODE.Exec, 64 bits */
	{ 2, { 0x99, 0x00 } },				      /* 16 */
	{ 2, { 0x99, 0x02 } },				      /* 32 */
	{ 2, { 0x99, 0x21 } },				      /* MODE.TSX, begun */
	{ 2, { 0x99, 0x22 } },				      /* aborted */
	{ 2, { 0x99, 0x20 } },				      /* over */
	{ 2, { 0x02, 0xf3 } },				      /* OVF */
	{ 6, { 0x02, 0x12, 0x01 } },			      /* PTW */
	{ 6, { 0x02, 0x92, 0x01 } },			      /* and a FUP */
	{ 2, { 0x02, 0x62 } },				      /* EXSTOP */
	{ 2, { 0x02, 0xe2 } },				      /* and a FUP */
	{ 10, { 0x02, 0xc2 } },				      /* MWAIT */
	{ 4, { 0x02, 0x22 } },				      /* PWRE */
	{ 7, { 0x02, 0xa2 } },				      /* PWRX */
	{ 2, { 0x02, 0x83 } },				      /* TraceStop */
	{ 2, { 0x02, 0x23 } },				      /* PSBEND */
	{ 8, { 0x02, 0x43, 0x02 } },			      /* PIP */
	{ 7, { 0x02, 0xc8, 0x01 } },			      /* VMCS */
	{ 4, { 0x02, 0x03, 0x19 } },			      /* CBR */
	{ 11, { 0x02, 0xc3, 0x88, 1, 2, 3, 4, 5, 6, 7, 8 } }, /* MNT */
	{ 1, { 0x03 } },				      /* CYC */
	{ 2, { 0x02, 0x55 } },				      /* none */
	{ 1, { 0x00 } },				      /* PAD */
	{ 2, { 0x59, 0x04 } },				      /* MTC */
	{ 7, { 0x02, 0x73, 0x00, 0x01 } },		      /* TMA */
};

enum { PACKET_VMCS = 27, PACKET_CBR = 28, PACKETS = sizeof(packets) / sizeof(packets[0]) };

static void put_packet(struct ptc_buf *b, size_t i)
{
	ptc_buf_put(b, packets[i].bytes, packets[i].n);
}

/* Adds a PSB+ while tracing is off, @first and @second, and switches tracing on unless they did. */
static void put_while_off(struct ptc_buf *b, uint64_t tsc, size_t first, size_t second)
{
	pt_psb(b);
	pt_tsc(b, tsc);
	pt_tma(b, (uint16_t)(tsc / FL_CTC_TICKS), 0);
	pt_mode_exec64(b);
	pt_psbend(b);
	put_packet(b, first);
	put_packet(b, second);
	pt_enable(b, 0x100b);
	jump(b);
}

/*
 * libipt reads on over a PSB+ before it reports events in front of it. So if it cannot read a
 * packet behind the PSB, its gap begins in front of the PSB.
 */
static void put_behind_psbs(size_t first, bool on)
{
	struct pt_how how = timed(3);
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t tsc = 8400;
	size_t second;

	how.disorder = true;
	for (second = 0; second < PACKETS; second++, tsc += 2016) {
		begin(&b, tsc);
		jump(&b);
		if (!on)
			pt_ip_none(&b, PT_PGD);
		if (!on) {
			put_while_off(&b, tsc + 1008, first, second);
			continue;
		}
		begin(&b, tsc + 1008);
		put_packet(&b, first);
		put_packet(&b, second);
		jump(&b);
	}
	begin(&b, tsc);
	(void)pt_replay(&b, &how);
	ptc_buf_release(&b);
}

Test(segment, whatever_is_behind_a_psb_gaps_are_those_of_libipt)
{
	size_t first;

	for (first = 0; first < PACKETS; first++) {
		put_behind_psbs(first, true);
		put_behind_psbs(first, false);
	}
}

/* Tracing goes off; then @first, @second, and a PSB+, with a mode if @mode. */
static void hold_behind_pgd(size_t first, size_t second, bool mode)
{
	struct pt_how how = { .damaged = true };
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x100b);
	jump(&b);
	pt_ip_none(&b, PT_PGD);
	put_packet(&b, first);
	put_packet(&b, second);
	pt_psb(&b);
	if (mode)
		pt_mode_exec64(&b);
	pt_psbend(&b);
	(void)pt_replay(&b, &how);
	ptc_buf_release(&b);
}

/* libipt keeps a mode for the TIP.PGE that must come next, and fails if a PSB comes. */
Test(segment, whatever_is_behind_the_end_of_tracing_gaps_are_those_of_libipt)
{
	size_t first, second;

	for (first = 0; first < PACKETS; first++)
		for (second = first % PT_PAIR_STEP; second < PACKETS; second += PT_PAIR_STEP) {
			hold_behind_pgd(first, second, false);
			hold_behind_pgd(first, second, true);
		}
}

/* No branch is listed, so no memory may exist for records. */
Test(segment, no_record_at_all_is_none)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	put_packet(&b, PACKET_VMCS);
	put_packet(&b, PACKET_CBR);
	pt_psb_off(&b);
	put_packet(&b, PACKET_CBR);
	expect(&b, (struct pt_how){ .insns = false }, 1, "");
}

/* Packets with which libipt can go on behind a branch that it could not follow. */
static void go_on(struct ptc_buf *b)
{
	pt_tnt(b, "TTT");
	jump(b);
	pt_tnt(b, "T");
	jump(b);
}

/*
 * libipt is in front of a branch at @ip, whose TIP has no address. Then @first, @second and a
 * PSBEND.
 */
static void put_behind_no_ip(struct ptc_buf *b, uint64_t ip, size_t first, size_t second, bool end)
{
	begin_at(b, ip, (b->len + 1) << 12); /* further apart than an MTC can express */
	pt_ip_none(b, PT_TIP);
	put_packet(b, first);
	put_packet(b, second);
	if (end)
		pt_psbend(b);
	go_on(b);
}

/*
 * For a cached block, libipt goes on with the packets behind the TIP; for another block it does
 * not. pt_replay() checks that this makes no difference.
 */
Test(segment, whatever_is_behind_a_tip_without_an_address_gaps_are_the_same)
{
	static const uint64_t branches[] = { 0x100b, 0x100e, 0x1006, 0x1016, 0x1012 };
	size_t first, second, i;

	for (first = 0; first < PACKETS; first++)
		for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
			struct pt_how how = timed(3);
			struct ptc_buf b = PTC_BUF_INIT;

			how.disorder = true;
			for (second = first % PT_PAIR_STEP; second < PACKETS;
			     second += PT_PAIR_STEP) {
				put_behind_no_ip(&b, branches[i], first, second, false);
				put_behind_no_ip(&b, branches[i], first, second, true);
			}
			(void)pt_replay(&b, &how);
			ptc_buf_release(&b);
		}
}

enum rest {
	REST_NONE,
	REST_END,  /* a PSBEND whose PSB is lost */
	REST_CALM, /* a PSB+ without a mode */
	RESTS,
};

/* The same with a TNT packet, @first, @second and @rest in front of that TIP. */
static void put_in_front_of_no_ip(struct ptc_buf *b, uint64_t ip, size_t first, size_t second,
				  enum rest rest)
{
	begin_at(b, ip, (b->len + 1) << 12);
	pt_tnt(b, "NNN");
	put_packet(b, first);
	put_packet(b, second);
	if (rest == REST_CALM)
		pt_psb(b);
	if (rest == REST_CALM)
		pt_tsc(b, (b->len + 1) << 12);
	if (rest)
		pt_psbend(b);
	pt_ip_none(b, PT_TIP);
	go_on(b);
}

Test(segment, whatever_is_in_front_of_a_tip_without_an_address_gaps_are_the_same)
{
	static const uint64_t branches[] = { 0x100b, 0x1016, 0x1025 };
	size_t first, second, i;
	enum rest rest;

	for (first = 0; first < PACKETS; first++)
		for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
			struct pt_how how = timed(3);
			struct ptc_buf b = PTC_BUF_INIT;

			how.disorder = true;
			for (second = first % PT_PAIR_STEP; second < PACKETS;
			     second += PT_PAIR_STEP)
				for (rest = REST_NONE; rest < RESTS; rest++)
					put_in_front_of_no_ip(&b, branches[i], first, second, rest);
			(void)pt_replay(&b, &how);
			ptc_buf_release(&b);
		}
}

/*
 * libipt reads the packets behind it, up to a packet that ends with the first byte of a PSB.
 * Another such packet may be in front of that.
 */
Test(segment, behind_a_tip_without_an_address_a_psb_may_begin_in_a_packet)
{
	static const uint64_t branches[] = { 0x100b, 0x100e, 0x1006, 0x1016, 0x1012 };
	static const uint8_t cbr[] = { 0x02, 0x03, 0x02, 0x02 };
	size_t first, i, times;

	for (first = 0; first < PACKETS; first++)
		for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
			struct pt_how how = timed(3);
			struct ptc_buf b = PTC_BUF_INIT;
			struct ptc_buf psb = PTC_BUF_INIT;

			how.disorder = true;
			for (times = 0; times < 4; times++) {
				begin_at(&b, branches[i], (b.len + 1) << 12);
				pt_ip_none(&b, PT_TIP);
				put_packet(&b, first);
				if (times < 2)
					continue;
				ptc_buf_put(&b, cbr, sizeof(cbr));
				begin_at(&psb, branches[i], (b.len + 1) << 12);
				ptc_buf_put(&b, psb.bytes + 1, psb.len - 1);
				pt_ip_none(&b, PT_TIP);
				ptc_buf_release(&psb);
			}
			(void)pt_replay(&b, &how);
			ptc_buf_release(&b);
		}
}

static bool needs_fup(size_t i)
{
	const uint8_t *p = packets[i].bytes;

	return p[0] == 0x99 ? p[1] == 0x21 || p[1] == 0x20 :
			      p[0] == 0x02 && (p[1] == 0x92 || p[1] == 0xe2 || p[1] == 0xc2);
}

/* Two events at one address, with a FUP for each or for both. */
static void put_events(size_t first, bool each)
{
	struct pt_how how = timed(3);
	struct ptc_buf b = PTC_BUF_INIT;
	uint64_t tsc = 8400;
	size_t second;

	how.disorder = true;
	for (second = first % PT_PAIR_STEP; second < PACKETS; second += PT_PAIR_STEP) {
		if (!needs_fup(second))
			continue;
		begin(&b, tsc);
		jump(&b);
		put_packet(&b, first);
		if (each)
			pt_ip(&b, PT_FUP, 0x100b);
		put_packet(&b, second);
		pt_ip(&b, PT_FUP, 0x100b);
		jump(&b);
		tsc += 1008;
	}
	begin(&b, tsc);
	(void)pt_replay(&b, &how);
	ptc_buf_release(&b);
}

Test(segment, events_at_one_address_leave_the_flow_as_libipt_does)
{
	size_t first;

	for (first = 0; first < PACKETS; first++) {
		if (!needs_fup(first))
			continue;
		put_events(first, true);
		put_events(first, false);
	}
}
