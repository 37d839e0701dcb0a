/* SPDX-License-Identifier: MIT */
#include "decode/stream/psb.h"

#include <string.h>

enum { PSB_NEAR = 4096 }; /* bytes that are searched for a PSB */

const uint8_t ptc_psb[PTC_PSB_LEN] = { 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
				       0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82 };

/* Returns true if the packet shows where the flow went. */
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

/* Returns true if a PSB+ may have this packet. A FUP is handled elsewhere. */
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
		if (type == PTC_PKT_FUP) {
			p.ip = true;
			(void)ptc_pkt_ip(bytes + at, p.at, &p.at);
		}
		/* An overflow cut off the PSB+. */
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

/* Restarts the rest at @at: no packet in front of it belongs to the PSB+. */
static void begin_rest(struct ptc_psb_walk *w, size_t at)
{
	*w = (struct ptc_psb_walk){ .at = w->at, .rest.at = at };
}

/* Takes a packet that ends at @end. */
static void add_packet(struct ptc_psb_walk *w, enum ptc_pkt type, size_t end)
{
	switch (type) {
	case PTC_PKT_PSB:
		begin_rest(w, end);
		w->whole = true;
		break;
	case PTC_PKT_OVF:
		begin_rest(w, end);
		w->cut = true;
		break;
	case PTC_PKT_FUP:
		/* A PSB+ has only one FUP: an earlier one belongs to an event. */
		if (w->rest.ip)
			w->rest.at = w->fup_end;
		w->rest.ip = true;
		w->fup_end = end;
		break;
	default:
		if (!goes_with_psb(type))
			begin_rest(w, end);
	}
	w->at = end;
}

void ptc_psb_walk_begin(struct ptc_psb_walk *w, size_t from)
{
	w->at = from;
	begin_rest(w, from);
}

/*
 * Walks to the last packet that starts at or in front of @place, within the bytes in front of @to.
 * Returns the end of the next packet; @place: a packet starts there; 0: the bytes are no packet, or
 * an incomplete one.
 */
static size_t walk_to(struct ptc_psb_walk *w, const uint8_t *bytes, size_t place, size_t to)
{
	enum ptc_pkt type;
	int n;

	while (w->at < place) {
		n = ptc_pkt_len(bytes + w->at, to - w->at, &type);
		if (n <= 0)
			return 0;
		if ((size_t)n > place - w->at)
			return w->at + (size_t)n;
		add_packet(w, type, w->at + (size_t)n);
	}
	return place;
}

bool ptc_psb_find_rest(struct ptc_psb_walk *w, const uint8_t *bytes, size_t psbend,
		       struct ptc_psb_rest *ret)
{
	if (walk_to(w, bytes, psbend, psbend) != psbend || w->whole || w->cut)
		return false;
	*ret = w->rest;
	return true;
}

bool ptc_psb_is_packet(struct ptc_psb_walk *w, const uint8_t *bytes, size_t at, size_t to)
{
	const size_t end = walk_to(w, bytes, at, to);

	/* The packet in front of it may end like a PSB begins. */
	while (at < end && at + PTC_PSB_LEN + 1 < to && bytes[at + PTC_PSB_LEN] == 0x02 &&
	       bytes[at + PTC_PSB_LEN + 1] == 0x82)
		at += 2;
	return end == at;
}

bool ptc_psb_is_idle(const uint8_t *bytes, size_t from, size_t to)
{
	enum ptc_pkt type;
	int n;

	for (; from < to; from += (size_t)n) {
		n = ptc_pkt_len(bytes + from, to - from, &type);
		if (n <= 0 || type == PTC_PKT_CBR ||
		    (type != PTC_PKT_PSB && type != PTC_PKT_PSBEND && !ptc_pkt_is_timing(type)))
			return false;
	}
	return true;
}

/* Packets of an event whose last packet has not come yet. */
struct unfinished {
	bool inside; /* in a PSB+ */
	bool waits;  /* waits for a FUP */
	bool fup;    /* a FUP waits for a TIP */
};

/* Returns true if the packet at @p completes an event, or is one. */
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
