/* SPDX-License-Identifier: MIT */
/*
 * Description: every branch that packets prove is listed in front of an overflow, by both engines.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "lib_pt.h"

/* A packet, or a PSB+, and the branches that it proves. */
struct told {
	void (*put)(struct ptc_buf *b);
	const char *proves;
};

static void psb_1000(struct ptc_buf *b)
{
	pt_psb_on(b, 0x1000);
}

static void psb_1006(struct ptc_buf *b)
{
	pt_psb_on(b, 0x1006);
}

static void psb_1024(struct ptc_buf *b)
{
	pt_psb_on(b, 0x1024);
}

static void taken(struct ptc_buf *b)
{
	pt_tnt(b, "T");
}

static void cbr(struct ptc_buf *b)
{
	pt_cbr(b, 8);
}

static void tsx(struct ptc_buf *b)
{
	pt_mode_tsx(b, true, false);
}

static void exstop(struct ptc_buf *b)
{
	static const uint8_t packet[] = { 0x02, 0xe2 };

	ptc_buf_put(b, packet, sizeof(packet));
}

static void fup_1006(struct ptc_buf *b)
{
	pt_ip(b, PT_FUP, 0x1006);
}

/* Relative to the last IP. */
static void fup_1024(struct ptc_buf *b)
{
	pt_ip16(b, PT_FUP, 0x1024);
}

static void fup_100b(struct ptc_buf *b)
{
	pt_ip(b, PT_FUP, 0x100b);
}

static void tip_1000(struct ptc_buf *b)
{
	pt_ip(b, PT_TIP, 0x1000);
}

static void tip_1003(struct ptc_buf *b)
{
	pt_ip(b, PT_TIP, 0x1003);
}

static void tip_100b(struct ptc_buf *b)
{
	pt_ip(b, PT_TIP, 0x100b);
}

static void pgd(struct ptc_buf *b)
{
	pt_ip_none(b, PT_PGD);
}

static void pge_1003(struct ptc_buf *b)
{
	pt_enable(b, 0x1003);
}

static const struct told trace[] = {
	{ psb_1000, "" },
	{ taken, "1000 1003 jcc\n" },
	{ cbr, "" },
	{ tsx, "" },
	{ fup_1006, "1003 1006 jmp\n" },
	{ psb_1024, "1006 1024 call\n" },
	{ tip_100b, "1025 100b ret\n" },
	{ tip_1003, "100b 1003 ijmp\n" },
	{ fup_1024, "1003 1006 jmp\n1006 1024 call\n" },
	{ cbr, "" },
	{ tip_1003, "1024 1003 async\n" },
	{ taken, "1003 1006 jmp\n1006 1024 call\n1025 100b ret\n" },
	{ exstop, "" },
	{ fup_100b, "" },
	{ tip_1000, "100b 1000 ijmp\n" },
	{ taken, "1000 1003 jcc\n" },
	{ fup_1006, "1003 1006 jmp\n" },
	{ pgd, "1006 0 async\n" },
	{ pge_1003, "0 1003 start\n" },
	{ psb_1006, "1003 1006 jmp\n" },
};

enum { NTRACE = sizeof(trace) / sizeof(*trace) };

/* Adds the first @n packets, and an overflow behind them. Writes the expected lines to @want. */
static void put_overflowed(struct ptc_buf *b, size_t n, char *want, size_t size)
{
	size_t i, at = 0;

	for (i = 0; i < n; i++) {
		trace[i].put(b);
		at += (size_t)snprintf(want + at, size - at, "%s", trace[i].proves);
	}
	(void)snprintf(want + at, size - at, "gap %zx 0 overflow\n1016 0 syscall\n", b->len);
	pt_ovf(b);
	pt_ip(b, PT_FUP, 0x1016);
	pt_ip_none(b, PT_PGD);
}

Test(overflow, behind_any_packet_it_leaves_all_branches_that_packets_prove)
{
	struct ptc_buf b = PTC_BUF_INIT;
	char want[1024];
	size_t n;

	for (n = 1; n <= NTRACE; n++) {
		struct pt_how how = { .psb = true };
		const char *got;

		ptc_buf_reset(&b);
		put_overflowed(&b, n, want, sizeof(want));
		got = pt_replay(&b, &how);
		cr_expect_str_eq(got, want, "behind %zu packets:\n%s\nnot\n%s", n, got, want);
		/* libipt decodes an overflow right behind a PSB+, with any packets behind it. */
		cr_expect(how.fast == PTC_FAST_AT_END ||
				  !strcmp(how.fast_why, "no packet behind a PSB+"),
			  "behind %zu packets: %s", n, how.fast_why);
	}
	ptc_buf_release(&b);
}

Test(overflow, instructions_up_to_a_fup_whose_tip_is_lost_ran)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct pt_how how = { .psb = true, .insns = true };

	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "T");
	pt_ip(&b, PT_FUP, 0x1025);
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	cr_assert_str_eq(pt_replay(&b, &how), "1000\n1003\n1006\n1024\ngap 23 0 overflow\n1016\n");
	ptc_buf_release(&b);
}

Test(overflow, a_fup_that_the_flow_cannot_reach_proves_nothing)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct pt_how how = { .psb = true };

	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "T");
	pt_ip(&b, PT_FUP, 0x100b); /* behind a return */
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x1026); /* in an endless loop */
	pt_ip(&b, PT_FUP, 0x1003);
	pt_ovf(&b);
	pt_ip(&b, PT_FUP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	cr_assert_str_eq(pt_replay(&b, &how),
			 "1000 1003 jcc\ngap 23 0 overflow\ngap 33 0 overflow\n1016 0 syscall\n");
	ptc_buf_release(&b);
}
