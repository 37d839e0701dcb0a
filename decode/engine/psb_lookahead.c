/* SPDX-License-Identifier: MIT */
#include "decode/engine/psb_lookahead.h"

#include "decode/engine/psb_plus.h"

/* Requirements left open by the packets so far. */
enum open { NOTHING, AN_ADDRESS, AN_ADDRESS_IN_A_MODE };

/* Position of the look-ahead. */
struct ahead {
	const struct ptc_fast *f;
	size_t at;
	bool on, tsc;
	enum open open;
};

enum found { GO_ON, GOOD, BAD };

static enum found good_if(bool good)
{
	return good ? GOOD : BAD;
}

/* For packets that libipt reads over, and for packets of whole events. */
static enum found go_on_if(bool good)
{
	return good ? GO_ON : BAD;
}

static enum found take_psb(struct ahead *a, size_t *n)
{
	struct ptc_fast_psb psb;

	if (a->open || !ptc_fast_psb_read(a->f->bytes, a->f->len, a->at, &a->tsc, &psb))
		return BAD;
	*n = psb.end - a->at;
	return GO_ON;
}

static enum found take_mode(struct ahead *a, const uint8_t *p)
{
	enum ptc_mode mode;

	/* A MODE.TSX needs a FUP. */
	if (a->open || p[1] >> 5 || !ptc_fast_mode(p[1], &mode))
		return BAD;
	a->open = AN_ADDRESS_IN_A_MODE;
	return GO_ON;
}

/* TIP.PGE, TIP.PGD and FUP. */
static enum found take_switch(struct ahead *a, const uint8_t *p, enum ptc_pkt type)
{
	const bool has_ip = ptc_pkt_ip_len(p[0]) > 1;

	switch (type) {
	case PTC_PKT_TIP_PGE:
		if (a->on || !has_ip || a->open == AN_ADDRESS)
			return BAD;
		a->on = true;
		a->open = NOTHING;
		return GO_ON;
	case PTC_PKT_TIP_PGD:
		if (!a->on || a->open == AN_ADDRESS_IN_A_MODE)
			return BAD;
		a->on = false;
		a->open = NOTHING;
		return GO_ON;
	default:
		if (!a->on || !has_ip || a->open)
			return BAD;
		a->open = AN_ADDRESS;
		return GO_ON;
	}
}

/* Look at the packet at @p, of *@n bytes. For a PSB+, *@n grows. */
static enum found check_packet_ahead(struct ahead *a, const uint8_t *p, enum ptc_pkt type,
				     size_t *n)
{
	if (ptc_fast_is_time(p, type, &a->tsc))
		return GO_ON;
	switch (type) {
	case PTC_PKT_PSB:
		return take_psb(a, n);
	case PTC_PKT_TNT:
	case PTC_PKT_TNT64:
		return good_if(a->on && !a->open);
	case PTC_PKT_TIP:
		return good_if(a->on);
	case PTC_PKT_TIP_PGE:
	case PTC_PKT_TIP_PGD:
	case PTC_PKT_FUP:
		return take_switch(a, p, type);
	case PTC_PKT_MODE:
		return take_mode(a, p);
	case PTC_PKT_PIP:
	case PTC_PKT_VMCS:
	case PTC_PKT_STOP:
		return go_on_if(!a->open);
	case PTC_PKT_OTHER:
		return go_on_if(!a->open && !ptc_pkt_has_fup(p));
	default: /* OVF, PTW, PSBEND, or an invalid time */
		return BAD;
	}
}

const char PTC_FAST_TOO_SHORT[] = "no packet of the flow soon behind a PSB+";

enum ptc_fast_upcoming ptc_fast_upcoming(const struct ptc_fast *f)
{
	struct ahead a = {
		.f = f, .at = f->pos, .on = ptc_fast_flow_is_on(&f->flow), .tsc = f->tsc
	};
	enum found r = GO_ON;
	enum ptc_pkt type;
	size_t n;
	int len = 1;

	for (; a.at < f->len && r == GO_ON && len > 0; a.at += n) {
		len = ptc_pkt_len(f->bytes + a.at, f->len - a.at, &type);
		n = len > 0 ? (size_t)len : 0;
		if (n)
			r = check_packet_ahead(&a, f->bytes + a.at, type, &n);
	}
	if (r == GOOD)
		return PTC_FAST_UPCOMING_GOOD;
	if (r == GO_ON && len >= 0 && f->cut)
		return PTC_FAST_UPCOMING_CUT;
	return r == GO_ON && len > 0 && !a.open ? PTC_FAST_UPCOMING_GOOD : PTC_FAST_UPCOMING_BAD;
}
