/* SPDX-License-Identifier: MIT */
/*
 * Description: packets of the SDM that libipt 2.0 does not know, or that do not change the flow.
 * None costs a branch in either engine, wherever it is.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "decode/stream/unknown_packets.h"
#include "replayed.h"

struct packet {
	const char *bytes;
	size_t len;
	const char *event; /* KIND IP VALUE; NULL: none */
};

#define P(bytes, event)                                                                            \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, event                                                    \
	}

static const struct packet packets[] = {
	P("\0", NULL),					     /* PAD */
	P("\x19\x01\0\0\0\0\0\0", NULL),		     /* TSC */
	P("\x59\x05", NULL),				     /* MTC */
	P("\x13", NULL),				     /* CYC */
	P("\x07\x02", NULL),				     /* CYC of 2 bytes */
	P("\xff\xff\xff\xff\xff\xff\xff\xff\x06", NULL),     /* 9 bytes, */
	P("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x06", NULL), /* and 10 */
	P("\x02\xc3\x88\1\2\3\4\5\6\7\x08", NULL),	     /* MNT */
	P("\x02\x62", "exstop 0 0"),			     /* EXSTOP */
	P("\x02\x22\0\x34", "pwre 0 403"),		     /* PWRE */
	P("\x02\xa2\x65\x04\0\0\0", "pwrx 0 20506"),	     /* PWRX */
	P("\x02\x13\x01\x0e", "intr 0 10e"),		     /* CFE */
	P("\x02\x13\x02\x00", "iret 0 200"),
	P("\x02\x13\x03\x00", "smi 0 300"),
	P("\x02\x13\x04\x00", "rsm 0 400"),
	P("\x02\x13\x05\x07", "sipi 0 507"),
	P("\x02\x13\x06\x00", "init 0 600"),
	P("\x02\x13\x07\x00", "vmentry 0 700"),
	P("\x02\x13\x08\x00", "vmexit 0 800"),
	P("\x02\x13\x09\x20", "vmexit-intr 0 920"),
	P("\x02\x13\x0a\x00", "shutdown 0 a00"),
	P("\x02\x13\x0c\x05", "uintr 0 c05"),
	P("\x02\x13\x0d\x00", "uiret 0 d00"),
	P("\x02\x13\x1f\x00", "cfe 0 1f00"),
	P("\x02\x53\x00\x10\0\0\0\0\0\0\0", "pfa 0 10"), /* EVD */
	P("\x02\x53\x01\x11\0\0\0\0\0\0\0", "vmxq 0 11"),
	P("\x02\x53\x02\x12\0\0\0\0\0\0\0", "vmxr 0 12"),
	P("\x02\x53\x07\x13\0\0\0\0\0\0\0", "evd 0 13"),
	P("\x02\x63\x04", "bbp 0 4"),	 /* BBP */
	P("\x02\x33", "bep 0 0"),	 /* BEP */
	P("\xd9\x03\x02", "trig 0 203"), /* TRIG */
	/* BIPs of 8 and of 4 bytes, with timing packets between */
	P("\x02\x63\x01\x04\1\2\3\4\5\6\7\x08\x0c\x02\x82\x02\x82\x02\x82\x02\x82\x02\x33",
	  "bbp 0 1"),
	P("\x02\x63\x81\x04\1\2\3\4\x59\x05\x0c\x02\x13\x02\x13\x02\x33", "bbp 0 1"),
};

static void put(struct ptc_buf *b, const struct packet *p)
{
	ptc_buf_put(b, (const uint8_t *)p->bytes, p->len);
}

static void check(struct ptc_buf *b, const struct packet *p, const char *lines, const char *where)
{
	struct pt_how how = { .events = false };
	const char *got = pt_replay(b, &how);
	char event[64];

	cr_assert_str_eq(got, lines, "%02x %02x %02x, %s: %s", (uint8_t)p->bytes[0],
			 (uint8_t)p->bytes[1], (uint8_t)p->bytes[2], where, got);
	cr_assert_eq(how.fast, PTC_FAST_AT_END, "%02x %02x, %s: %s", (uint8_t)p->bytes[0],
		     (uint8_t)p->bytes[1], where, how.fast_why);
	how.events = true;
	got = pt_replay(b, &how);
	if (p->event) {
		(void)snprintf(event, sizeof(event), "event %s\n", p->event);
		cr_assert_not_null(strstr(got, event), "%s, %s: %s", p->event, where, got);
	}
	ptc_buf_release(b);
}

Test(unknown_packets, no_packet_without_a_fup_costs_anything)
{
	struct ptc_buf b;
	size_t i;

	for (i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		const struct packet *p = &packets[i];

		b = (struct ptc_buf)PTC_BUF_INIT;
		pt_psb_on(&b, 0x1000);
		pt_tnt(&b, "T");
		put(&b, p);
		pt_ip(&b, PT_TIP, 0x1016);
		pt_ip_none(&b, PT_PGD);
		check(&b, p,
		      "1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\n1025 1016 ret\n"
		      "1016 0 syscall\n",
		      "between branches");
		b = (struct ptc_buf)PTC_BUF_INIT;
		pt_psb_on(&b, 0x1000);
		pt_tnt(&b, "T");
		pt_psb_on(&b, 0x1025);
		put(&b, p);
		pt_ip(&b, PT_TIP, 0x1016);
		pt_ip_none(&b, PT_PGD);
		pt_psb_off(&b);
		check(&b, p,
		      "1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\n1025 1016 ret\n"
		      "1016 0 syscall\n",
		      "behind a PSB+");
		b = (struct ptc_buf)PTC_BUF_INIT;
		pt_psb_off(&b);
		put(&b, p);
		pt_enable(&b, 0x1016);
		pt_ip_none(&b, PT_PGD);
		check(&b, p, "0 1016 start\n1016 0 syscall\n", "while tracing is off");
	}
}

/* The packet has a FUP at @fup; then a TIP follows. */
static void check_bound(const char *bytes, size_t len, uint64_t fup, const char *lines)
{
	const struct packet p = { bytes, len, NULL };
	struct pt_how how = { .events = true };
	struct ptc_buf b = PTC_BUF_INIT;
	const char *got;

	pt_psb_on(&b, 0x1000);
	pt_tnt(&b, "T");
	put(&b, &p);
	pt_ip(&b, PT_FUP, fup);
	pt_ip(&b, PT_TIP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	got = pt_replay(&b, &how);
	cr_assert_str_eq(got, lines, "%02x %02x: %s", (uint8_t)bytes[1], (uint8_t)bytes[2], got);
	ptc_buf_release(&b);
}

Test(unknown_packets, the_fup_of_an_event_says_where_it_was)
{
	check_bound("\x02\x13\x81\x0e", 4, 0x1024,
		    "1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\nevent intr 1024 10e\n"
		    "1024 1016 async\n1016 0 syscall\nevent disabled 0 0\n");
	check_bound("\x02\x13\x82\x00", 4, 0x1025,
		    "1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\nevent iret 1025 200\n"
		    "1025 1016 ret\n1016 0 syscall\nevent disabled 0 0\n");
	check_bound("\x02\xb3", 2, 0x1025,
		    "1000 1003 jcc\n1003 1006 jmp\n1006 1024 call\nevent bep 1025 0\n"
		    "1025 1016 ret\n1016 0 syscall\nevent disabled 0 0\n");
}

Test(unknown_packets, a_packet_in_front_of_what_it_needs_waits)
{
	uint8_t bytes[64];
	struct ptc_mask m = { .listed = true };
	struct ptc_buf b = PTC_BUF_INIT;
	size_t cut, cfe;

	pt_psb_on(&b, 0x1000);
	cfe = b.len;
	ptc_buf_put(&b, (const uint8_t *)"\x02\x13\x81\x0e", 4);
	pt_ip(&b, PT_FUP, 0x1000);
	pt_ip(&b, PT_TIP, 0x1016);
	for (cut = 0; cut <= b.len; cut++) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, b.bytes, cut);
		ptc_mask_restart(&m, 0);
		ptc_mask_run(&m, bytes, 0, cut, false);
		memcpy(bytes + cut, b.bytes + cut, b.len - cut);
		ptc_mask_run(&m, bytes, 0, b.len, true);
		cr_assert_eq(bytes[cfe], 0, "cut at %zu", cut);
		cr_assert_eq(bytes[cfe + 1], 0, "cut at %zu", cut);
		cr_assert_eq(memcmp(bytes + cfe + 4, b.bytes + cfe + 4, b.len - cfe - 4), 0);
		cr_assert_not_null(ptc_mask_next(&m, b.len));
		cr_assert_eq(ptc_mask_next(&m, b.len)->off, cfe);
		ptc_mask_take(&m);
		cr_assert_null(ptc_mask_next(&m, b.len));
	}
	ptc_mask_release(&m);
	ptc_buf_release(&b);
}
