/* SPDX-License-Identifier: MIT */
#include "stuff.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/pt_packet.h"
#include "base.h"

enum { MTC_EVERY = 50, MTC_LONGEST = 700, RARE_EVERY = 12, RARE_LEN = 32 };

/* The state of stuff_trace. */
struct stuffing {
	uint8_t *out;
	size_t npackets, turn;
};

/* Adds a run of MTCs behind each PSB+ and each MTC_EVERYth packet. */
static void add_mtcs(struct stuffing *s, enum ptc_pkt type)
{
	static const size_t runs[] = { 3, MTC_LONGEST, 60, 300 };
	size_t i;

	if (type != PTC_PKT_PSBEND && ++s->npackets % MTC_EVERY)
		return;
	for (i = 0; i < runs[s->turn]; i++) {
		*s->out++ = 0x59;
		*s->out++ = (uint8_t)i;
	}
	s->turn = (s->turn + 1) % (sizeof(runs) / sizeof(runs[0]));
}

/* Adds a CYC of one to three bytes, alternating. */
static void add_cyc(struct stuffing *s)
{
	const size_t more = s->turn++ % 3;
	size_t i;

	*s->out++ = (uint8_t)(3 | (more ? 4 : 0) | (s->turn * 0x48 & 0xf8));
	for (i = 1; i <= more; i++)
		*s->out++ = (uint8_t)((s->turn * 0x32 & 0xfe) | (i < more ? 1 : 0));
}

/* Packets that change no control flow and whose FUP is optional. */
static void add_rare(struct stuffing *s)
{
	static const struct {
		size_t len;
		uint8_t bytes[RARE_LEN];
	} rare[] = {
		{ 6, { 0x02, 0x12, 1, 2, 3, 4 } },		      /* PTW, 4 bytes */
		{ 4, { 0x02, 0x22, 0, 0x20 } },			      /* PWRE */
		{ 7, { 0x02, 0xa2, 0x11, 0, 0, 0, 0 } },	      /* PWRX */
		{ 10, { 0x02, 0x32, 1, 2, 3, 4, 5, 6, 7, 8 } },	      /* PTW, 8 bytes */
		{ 11, { 0x02, 0xc3, 0x88, 1, 2, 3, 4, 5, 6, 7, 8 } }, /* MNT */
		{ 2, { 0x02, 0x62 } },				      /* EXSTOP */
		{ 4, { 0x02, 0x13, 0x01, 0x80 } },		      /* CFE: INTR */
		{ 15, { 0x02, 0x53, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x02, 0x13, 3, 14 } }, /* EVD, CFE */
		{ 14,
		  { 0x02, 0x63, 0x01, 0x04, 1, 2, 3, 4, 5, 6, 7, 8, 0x02, 0x33 } }, /* BBP to BEP */
		{ 3, { 0xd9, 0x01, 0x80 } },					    /* TRIG */
		{ 4, { 0x02, 0x03, 0x20, 0 } },					    /* CBR */
	};

	if (++s->npackets % RARE_EVERY)
		return;
	memcpy(s->out, rare[s->turn].bytes, rare[s->turn].len);
	s->out += rare[s->turn].len;
	s->turn = (s->turn + 1) % (sizeof(rare) / sizeof(rare[0]));
}

static bool has_branches(enum ptc_pkt type)
{
	return type == PTC_PKT_TNT || type == PTC_PKT_TNT64 || type == PTC_PKT_TIP;
}

static size_t most_of(enum stuff what, size_t len)
{
	switch (what) {
	case STUFF_MTC:
		return len + (len / MTC_EVERY + len / PTC_PSB_LEN + 2) * 2 * MTC_LONGEST;
	case STUFF_CYC:
		return 4 * len + RARE_LEN;
	default:
		return len + (len / RARE_EVERY + 1) * RARE_LEN;
	}
}

uint8_t *stuff_trace(enum stuff what, uint8_t *trace, size_t *len)
{
	uint8_t *ret = must(malloc(most_of(what, *len)));
	struct stuffing s = { .out = ret };
	bool inside = true; /* in a PSB+, or before the first PSB */
	enum ptc_pkt type;
	size_t at;
	int n;

	for (at = 0; at < *len; at += (size_t)n) {
		n = ptc_pkt_len(trace + at, *len - at, &type);
		if (n <= 0)
			break;
		if (what == STUFF_CYC && !inside && has_branches(type))
			add_cyc(&s);
		memcpy(s.out, trace + at, (size_t)n);
		s.out += n;
		inside = type == PTC_PKT_PSB || (inside && type != PTC_PKT_PSBEND);
		if (inside)
			continue;
		if (what == STUFF_MTC)
			add_mtcs(&s, type);
		else if (what == STUFF_RARE && has_branches(type))
			add_rare(&s);
	}
	free(trace);
	*len = (size_t)(s.out - ret);
	return ret;
}

void stuff_drop_mtcs(uint8_t *trace, size_t len)
{
	enum ptc_pkt type;
	size_t at;
	int n;

	for (at = ptc_pkt_next_psb(trace, len, 0); at < len; at += (size_t)n) {
		n = ptc_pkt_len(trace + at, len - at, &type);
		if (n <= 0)
			return;
		if (type == PTC_PKT_MTC || type == PTC_PKT_TMA || type == PTC_PKT_CBR)
			memset(trace + at, 0, (size_t)n);
	}
}
