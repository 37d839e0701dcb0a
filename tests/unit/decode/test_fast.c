/* SPDX-License-Identifier: MIT */
/*
 * Description: the second engine. pt_replay holds what it lists against libipt, and aborts; what is
 * said here is how far it must come.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "lib_pt.h"

/* @b (released) is not for the engine: it says @why; NULL: it comes to its end. */
static void expect(struct ptc_buf *b, const char *why)
{
	struct pt_how how = { .insns = false };
	const char *lines = pt_replay(b, &how);

	if (!why)
		cr_assert_eq(how.fast, PTC_FAST_AT_END, "%s\nafter:\n%s", how.fast_why, lines);
	else
		cr_assert(how.fast == PTC_FAST_DECLINED && !strcmp(how.fast_why, why),
			  "%d %s, not %s", (int)how.fast, how.fast_why ? how.fast_why : "", why);
	ptc_buf_release(b);
}

static void put(struct ptc_buf *b, const void *bytes, size_t n)
{
	ptc_buf_put(b, bytes, n);
}

#define PUT(b, s) put(b, s, sizeof(s) - 1)

/* A long TNT packet of up to 47 bits, the oldest in bit @n - 1. */
static void tnt64(struct ptc_buf *b, uint64_t bits, unsigned int n)
{
	uint64_t v = 1ull << n | bits;
	int i;

	PUT(b, "\x02\xa3");
	for (i = 0; i < 6; i++, v >>= 8)
		ptc_buf_u8(b, (uint8_t)v);
}

Test(fast, packets_between_two_branches_leave_the_flow_alone)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_off(&b);
	pt_enable(&b, 0x1012);
	pt_cbr(&b, 8);
	PUT(&b, "\x02\x62");			   /* EXSTOP */
	PUT(&b, "\x02\x22\x00\x00");		   /* PWRE */
	PUT(&b, "\x02\xa2\x00\x00\x00\x00\x00");   /* PWRX */
	PUT(&b, "\x02\xc3\x88\1\2\3\4\5\6\7\x08"); /* MNT */
	pt_mode_tsx(&b, true, false);
	pt_ip(&b, PT_FUP, 0x1012);
	pt_tnt(&b, "N");
	PUT(&b, "\x02\xc2\0\0\0\0\0\0\0\0"); /* MWAIT, and EXSTOP with a FUP */
	PUT(&b, "\x02\xe2");
	pt_ip(&b, PT_FUP, 0x1016);
	pt_ip_none(&b, PT_PGD);
	PUT(&b, "\x02\x83");		 /* STOP */
	PUT(&b, "\x02\x43\0\0\0\0\0\0"); /* PIP */
	pt_enable(&b, 0x1003);
	pt_tnt(&b, "T");
	pt_ip_none(&b, PT_PGD);
	expect(&b, NULL);
}

Test(fast, long_and_short_bits_and_addresses_of_any_length)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1012);
	tnt64(&b, 0, 1);
	pt_ip16(&b, PT_TIP, 0x100b);
	pt_ip(&b, PT_TIP, PT_HIGH + 0x1000);
	tnt64(&b, 3, 2);
	pt_ip16(&b, PT_TIP, 0x100e);
	PUT(&b, "\xcd\x10\x10\0\0\0\x7f\0\0"); /* all eight bytes */
	pt_tnt(&b, "TN");
	PUT(&b, "\x4d\x00\x10\0\0"); /* four */
	pt_tnt(&b, "NT");
	PUT(&b, "\x8d\x16\x10\0\0\0\x7f"); /* six, not extended */
	pt_ip_none(&b, PT_PGD);
	expect(&b, NULL);
}

Test(fast, addresses_may_come_behind_bits_that_follow_them)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1012);
	pt_tnt(&b, "TNN"); /* loop; then call *%rax, je and loop */
	pt_ip(&b, PT_TIP, 0x1010);
	pt_ip_none(&b, PT_PGD);
	expect(&b, NULL);
}

Test(fast, an_address_behind_bits_of_two_packets_is_declined)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1012);
	pt_tnt(&b, "TN");
	pt_tnt(&b, "N");
	pt_ip(&b, PT_TIP, 0x1010);
	pt_ip_none(&b, PT_PGD);
	expect(&b, "a TNT for an address");
}

Test(fast, an_overflow_goes_on_at_its_address_or_where_tracing_goes_on)
{
	struct ptc_buf b = PTC_BUF_INIT;

	pt_psb_on(&b, 0x1012);
	pt_tnt(&b, "N");
	pt_ovf(&b);
	pt_tsc(&b, 1000);
	pt_ip(&b, PT_FUP, 0x1000);
	pt_tnt(&b, "TT");
	pt_ovf(&b);
	pt_enable(&b, 0x100e);
	pt_ip(&b, PT_TIP, 0x1012);
	pt_tnt(&b, "N");
	pt_ip_none(&b, PT_PGD);
	expect(&b, NULL);
}

Test(fast, what_libipt_is_not_asked_about_every_day_is_left_to_it)
{
	static const struct {
		const char *bytes, *why;
		size_t len;
	} rare[] = {
		{ "\x02\x63\x01", "a packet that is not known", 3 },			/* BBP */
		{ "\x02\x13\x01\x02", "a packet that is not known", 4 },		/* CFE */
		{ "\x02\x53\1\2\3\4\5\6\7\x08\x09", "a packet that is not known", 11 }, /* EVD */
		{ "\xd9\x01\x02", "a packet that is not known", 3 },
		{ "\x99\x22", "an aborted transaction", 2 },
		{ "\x02\x12\1\2\3\4", "a PTWRITE without an address", 6 },
		{ "\x02\x43\0\0\0\0\0\0", "another address space while tracing is on", 8 },
		{ "\x02\x83", "another address space while tracing is on", 2 },
		{ "\x02\x23", "a packet that is out of place", 2 },
		{ "\x02\xa3\0\0\0\0\0\0", "a TNT without an end", 8 },
		{ "\x0d", "a TIP without an address", 1 },
		{ "\x06", "a return without a call", 1 },
		{ "\x04", "a return that is not taken", 1 },
		{ "\x06\x01", "a return without a call", 2 },
	};
	size_t i;

	for (i = 0; i < sizeof(rare) / sizeof(*rare); i++) {
		struct ptc_buf b = PTC_BUF_INIT;

		pt_psb_on(&b, 0x1024);
		put(&b, rare[i].bytes, rare[i].len);
		expect(&b, rare[i].why);
	}
}

/* --- flows at random --- */

/* What runs, and the packets that a processor would make of it. */
struct walk {
	struct ptc_buf *b;
	uint64_t seed, ip, bits, base;
	unsigned int nbits, most; /* that wait; as many make a packet */
	uint64_t stack[64];
	size_t depth;
};

static unsigned int pick(struct walk *w, unsigned int n)
{
	w->seed = w->seed * 6364136223846793005 + 1442695040888963407;
	return (unsigned int)(w->seed >> 33) % n;
}

static void flush(struct walk *w)
{
	char text[7] = "";
	unsigned int i;

	if (w->nbits > 6) {
		tnt64(w->b, w->bits, w->nbits);
	} else {
		for (i = 0; i < w->nbits; i++)
			text[i] = w->bits >> (w->nbits - 1 - i) & 1 ? 'T' : 'N';
		pt_tnt(w->b, text);
	}
	w->bits = w->nbits = 0;
}

static bool bit(struct walk *w, bool taken)
{
	w->bits = w->bits << 1 | taken;
	if (++w->nbits == w->most) {
		flush(w);
		w->most = pick(w, 2) ? 1 + pick(w, 6) : 1 + pick(w, 47);
	}
	return taken;
}

static void tip(struct walk *w, uint64_t ip)
{
	flush(w);
	pt_ip(w->b, PT_TIP, ip);
	w->ip = ip;
}

static uint64_t anywhere(struct walk *w)
{
	static const uint16_t places[] = { 0x1000, 0x1002, 0x1003, 0x1006, 0x100e, 0x1010,
					   0x1012, 0x1014, 0x102f, 0x1031, 0x1033 };

	w->base = pick(w, 8) ? w->base : w->base ? 0 : PT_HIGH;
	return w->base + places[pick(w, sizeof(places) / sizeof(*places))];
}

static void call(struct walk *w, uint64_t back)
{
	w->stack[w->depth++ % 64] = w->base + back;
}

/* Compressed, if it goes where it was called, which it mostly does. */
static void ret(struct walk *w, size_t known)
{
	uint64_t to;

	if (!known || !pick(w, 20)) {
		tip(w, anywhere(w));
		return;
	}
	to = w->stack[--w->depth % 64];
	w->base = to >> 32 << 32;
	bit(w, true);
	w->ip = to;
}

/* One instruction. */
static void run_insn(struct walk *w, size_t *known)
{
	const uint64_t base = w->base;

	switch (w->ip - base) {
	case 0x1000:
		w->ip = base + (bit(w, pick(w, 2)) ? 0x1003 : 0x1002);
		break;
	case 0x1002:
		w->ip = base + 0x1003;
		break;
	case 0x1003:
		w->ip = base + 0x1006;
		break;
	case 0x1006:
		call(w, 0x100b);
		++*known;
		w->ip = base + 0x1024;
		break;
	case 0x100e:
		call(w, 0x1010);
		++*known;
		tip(w, anywhere(w));
		break;
	case 0x1010:
		bit(w, pick(w, 2));
		w->ip = base + 0x1012;
		break;
	case 0x1012:
		w->ip = base + (bit(w, pick(w, 4)) ? 0x100e : 0x1014);
		break;
	case 0x1014:
		w->ip = base + 0x1016;
		break;
	case 0x1024:
		w->ip = base + 0x1025;
		break;
	case 0x102f:
		w->ip = base + 0x1031;
		break;
	case 0x1031:
		w->ip = base + (bit(w, !pick(w, 4)) ? 0x1038 : 0x1033);
		break;
	case 0x1033:
		call(w, 0x1038);
		++*known;
		w->ip = base + 0x102f;
		break;
	case 0x1025:
	case 0x1038:
		ret(w, *known);
		*known -= *known > 0;
		break;
	default: /* an indirect jump, a system call */
		tip(w, anywhere(w));
		break;
	}
	if (*known > 64)
		*known = 64;
}

/* Something that a trace has now and then. */
static void happen(struct walk *w, size_t *known)
{
	const uint64_t at = w->ip;

	flush(w);
	switch (pick(w, 6)) {
	case 0: /* an event that is handled in traced code */
		pt_ip(w->b, PT_FUP, at);
		pt_mtc(w->b, (uint8_t)pick(w, 256));
		tip(w, anywhere(w));
		break;
	case 1: /* and elsewhere */
		pt_ip(w->b, PT_FUP, at);
		pt_ip_none(w->b, PT_PGD);
		if (pick(w, 2))
			w->ip = anywhere(w);
		pt_enable(w->b, w->ip);
		break;
	case 2: /* a filter's edge */
		pt_ip(w->b, PT_PGD, at);
		w->ip = anywhere(w);
		pt_enable(w->b, w->ip);
		break;
	case 3: /* nobody hears of calls since the last packet */
		*known = 0;
		pt_ovf(w->b);
		w->ip = anywhere(w);
		pt_ip(w->b, PT_FUP, w->ip);
		break;
	case 4: /* the processor forgets its stack */
		pt_psb_on(w->b, at);
		*known = 0;
		break;
	default:
		pt_cyc(w->b, 1 + pick(w, 5000));
		pt_mtc(w->b, (uint8_t)pick(w, 256));
		break;
	}
}

static void walk(struct walk *w, unsigned int insns)
{
	size_t known = 0;

	w->ip = 0x1000;
	w->most = 6;
	pt_psb_on(w->b, w->ip);
	while (insns--) {
		if (!pick(w, 50))
			happen(w, &known);
		run_insn(w, &known);
	}
	flush(w);
}

Test(fast, whatever_runs_it_comes_to_the_end)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		struct ptc_buf b = PTC_BUF_INIT;
		struct walk w = { .b = &b, .seed = i };

		walk(&w, 4000);
		expect(&b, NULL);
	}
}

Test(fast, cut_anywhere_it_lists_what_libipt_does)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct walk w = { .b = &b, .seed = 99 };
	struct pt_how how = { .insns = false };
	size_t len;

	walk(&w, 300);
	for (len = 0; len < b.len; len++)
		(void)pt_replay_bytes(b.bytes, len, &how);
	ptc_buf_release(&b);
}

Test(fast, with_a_bit_flipped_anywhere_it_lists_what_libipt_does)
{
	struct pt_how how = { .insns = false };
	unsigned int seed;
	size_t i;

	for (seed = 100; seed < 102; seed++) {
		struct ptc_buf b = PTC_BUF_INIT;
		struct walk w = { .b = &b, .seed = seed };

		walk(&w, 200);
		for (i = 0; i < b.len * 8; i++) {
			b.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
			(void)pt_replay(&b, &how);
			b.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		}
		ptc_buf_release(&b);
	}
}
