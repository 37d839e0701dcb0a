/* SPDX-License-Identifier: MIT */
#include "decode/psb.h"

#include <string.h>

enum { PSB_NEAR = 4096 }; /* bytes that are looked at for a PSB */

const uint8_t ptc_psb[PTC_PSB_LEN] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
				       0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82 };

/* It tells where the flow went. */
static bool is_branch(enum ptc_pkt type)
{
	return type == PTC_PKT_TNT || type == PTC_PKT_TNT64 || type == PTC_PKT_TIP ||
	       type == PTC_PKT_TIP_PGE || type == PTC_PKT_TIP_PGD;
}

size_t ptc_psb_left_behind(const uint8_t *bytes, size_t from, size_t to, bool agrees)
{
	enum ptc_pkt type = PTC_PKT_PAD;
	size_t begin = to, at;
	bool event = false;
	int n;

	do {
		if (begin-- <= from || to - begin > PSB_NEAR)
			return SIZE_MAX;
	} while (to - begin < PTC_PSB_LEN || memcmp(bytes + begin, ptc_psb, PTC_PSB_LEN) != 0);
	if (!agrees)
		return begin;
	for (at = begin; at < to && type != PTC_PKT_PSBEND; at += (size_t)n) {
		n = ptc_pkt_len(bytes + at, to - at, &type);
		if (n <= 0)
			return SIZE_MAX;
	}
	for (; at < to; at += (size_t)n) {
		n = ptc_pkt_len(bytes + at, to - at, &type);
		if (n <= 0)
			return SIZE_MAX;
		if (is_branch(type) && !event)
			return begin;
		event |= type == PTC_PKT_FUP;
	}
	return SIZE_MAX;
}

/* May it be in a PSB+, besides a FUP? */
static bool goes_with_psb(enum ptc_pkt type)
{
	return ptc_pkt_is_timing(type) || type == PTC_PKT_MODE || type == PTC_PKT_PIP ||
	       type == PTC_PKT_VMCS;
}

struct ptc_psb_plus ptc_psb_read(const uint8_t *bytes, size_t len)
{
	struct ptc_psb_plus p = { .whole = false };
	enum ptc_pkt type = PTC_PKT_PAD;
	size_t at;
	int n;

	for (at = 0; at < len && type != PTC_PKT_PSBEND; at += (size_t)n) {
		n = ptc_pkt_len(bytes + at, len - at, &type);
		if (n <= 0)
			return (struct ptc_psb_plus){ .whole = false };
		p.mode |= type == PTC_PKT_MODE && bytes[at + 1] >> 5 == 0;
		p.ip |= type == PTC_PKT_FUP;
		/* It was cut short. */
		if (type == PTC_PKT_OVF)
			return p;
	}
	p.whole = type == PTC_PKT_PSBEND;
	p.len = at;
	return p;
}

size_t ptc_psb_rest_len(const uint8_t *bytes, size_t len)
{
	enum ptc_pkt type = PTC_PKT_PAD;
	size_t at;
	int n;

	for (at = 0; at < len && type != PTC_PKT_PSBEND; at += (size_t)n) {
		n = ptc_pkt_len(bytes + at, len - at, &type);
		if (n <= 0 || (!goes_with_psb(type) && type != PTC_PKT_PSBEND))
			return 0;
	}
	return type == PTC_PKT_PSBEND ? at : 0;
}

/* Packets that may be what is left of a PSB+. */
struct rest {
	struct ptc_psb_rest is;
	size_t fup_end;
	bool whole;  /* its PSB is there */
	bool spoilt; /* an overflow cut short what was there */
};

/* None of its packets is in front of @at. */
static void begin_rest(struct rest *r, size_t at)
{
	*r = (struct rest){ .is.at = at };
}

/* A packet that is no PSBEND ends at @end. */
static void add_packet(struct rest *r, enum ptc_pkt type, size_t end)
{
	switch (type) {
	case PTC_PKT_PSB:
		begin_rest(r, end);
		r->whole = true;
		break;
	case PTC_PKT_OVF:
		begin_rest(r, end);
		r->spoilt = true;
		break;
	case PTC_PKT_FUP:
		/* A PSB+ has one: that in front of it is an event's. */
		if (r->is.ip)
			r->is.at = r->fup_end;
		r->is.ip = true;
		r->fup_end = end;
		break;
	default:
		if (!goes_with_psb(type))
			begin_rest(r, end);
	}
}

bool ptc_psb_find_rest(const uint8_t *bytes, size_t from, size_t psbend, struct ptc_psb_rest *ret)
{
	enum ptc_pkt type;
	struct rest r;
	int n;

	begin_rest(&r, from);
	for (; from < psbend; from += (size_t)n) {
		n = ptc_pkt_len(bytes + from, psbend - from, &type);
		if (n <= 0)
			return false;
		if (type == PTC_PKT_PSBEND)
			begin_rest(&r, from + (size_t)n);
		else
			add_packet(&r, type, from + (size_t)n);
	}
	*ret = r.is;
	return !r.whole && !r.spoilt;
}

bool ptc_psb_is_packet(const uint8_t *bytes, size_t from, size_t at, size_t to)
{
	enum ptc_pkt type;
	int n;

	while (from < at) {
		n = ptc_pkt_len(bytes + from, to - from, &type);
		if (n <= 0)
			return false;
		from += (size_t)n;
	}
	/* The packet in front of it may end as a PSB begins. */
	while (at < from && at + PTC_PSB_LEN + 1 < to && bytes[at + PTC_PSB_LEN] == 0x02 &&
	       bytes[at + PTC_PSB_LEN + 1] == 0x82)
		at += 2;
	return from == at;
}

/* Packets of an event whose last one has not come yet. */
struct unfinished {
	bool inside; /* of a PSB+ */
	bool waits;  /* for a FUP */
	bool fup;    /* for a TIP */
};

/* The packet at @p is the last one of an event, or is one. */
static bool ends_event(struct unfinished *u, const uint8_t *p, enum ptc_pkt type)
{
	u->inside = type == PTC_PKT_PSB ||
		    (u->inside && type != PTC_PKT_PSBEND && type != PTC_PKT_OVF);
	if (u->inside || type == PTC_PKT_PSBEND)
		return false;
	if (type == PTC_PKT_TIP)
		return u->fup;
	if (type == PTC_PKT_FUP) {
		u->fup = true;
		return u->waits;
	}
	/* With tracing off MODE.TSX waits for nothing. */
	if (type == PTC_PKT_MODE)
		return ptc_pkt_waits_for_fup(p, type);
	if (!ptc_pkt_waits_for_fup(p, type))
		return ptc_pkt_is_event(type);
	u->waits = true;
	return false;
}

bool ptc_psb_has_event_before(const uint8_t *bytes, size_t from, size_t at)
{
	struct unfinished u = { .inside = false };
	enum ptc_pkt type;
	int n;

	for (; from < at; from += (size_t)n) {
		n = ptc_pkt_len(bytes + from, at - from, &type);
		if (n <= 0 || ends_event(&u, bytes + from, type))
			return true;
	}
	return false;
}
