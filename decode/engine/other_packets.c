/* SPDX-License-Identifier: MIT */
#include "decode/engine/other_packets.h"

#include "base/grow.h"
#include "decode/engine/psb_plus.h"
#include "decode/engine/tnt_loop.h"
#include "decode/stream/unknown_packets.h"

enum ptc_fast_status ptc_fast_decline(struct ptc_fast *f, const char *why)
{
	f->flow.why = why;
	return PTC_FAST_DECLINED;
}

/*
 * Go on if the flow reached its destination, else decline. @why: the reason if it needs another
 * packet.
 */
static enum ptc_fast_status astray(struct ptc_fast *f, enum ptc_fast_reached r, const char *why)
{
	if (r == PTC_FAST_THERE)
		return PTC_FAST_GO_ON;
	return r == PTC_FAST_LOST ? PTC_FAST_DECLINED : ptc_fast_decline(f, why);
}

static bool is_on(const struct ptc_fast *f)
{
	return ptc_fast_flow_is_on(&f->flow);
}

/* Take a valid packet that only gives the time. */
static enum ptc_fast_status take_time(struct ptc_fast *f, const uint8_t *p, enum ptc_pkt type)
{
	if (!f->time.on)
		return PTC_FAST_GO_ON;
	if (!ptc_fast_time_take(&f->time, p, type))
		return ptc_fast_decline(f, type == PTC_PKT_CYC ? "a CYC packet" :
								 "a time that is not known");
	f->due = f->time.tsc != f->told;
	return PTC_FAST_GO_ON;
}

/*
 * Does another thread run from now on? The branch of the last instruction then belongs to that
 * thread. If that instruction is in front of the segment, it is not known here.
 */
static bool turn(struct ptc_fast *f, struct ptc_fast_mark *m)
{
	switch (f->ask(f->asked, f, m->tsc)) {
	case PTC_FAST_SAME:
		return true;
	case PTC_FAST_TURN:
		m->turn = true;
		m->late = f->flow.last.listed;
		f->flow.why = "another thread in the middle of the flow";
		return f->flow.insns || !is_on(f);
	default:
		return false;
	}
}

/* From here on the time is the current one. */
static enum ptc_fast_status mark(struct ptc_fast *f)
{
	struct ptc_fast_mark now = { .recs = ptc_fast_flow_passed(&f->flow),
				     .insns = f->flow.insns,
				     .tsc = f->time.tsc };
	struct ptc_fast_mark *last = f->nmarks ? &f->marks[f->nmarks - 1] : NULL;

	if (!f->due)
		return PTC_FAST_GO_ON;
	if (now.tsc < f->told)
		return ptc_fast_decline(f, "a time that goes back");
	f->told = now.tsc;
	f->due = false;
	if (f->ask && !turn(f, &now))
		return PTC_FAST_DECLINED;
	if (last && last->recs == now.recs && last->insns == now.insns) {
		last->tsc = now.tsc;
		last->turn |= now.turn;
		last->late |= now.late;
		return PTC_FAST_GO_ON;
	}
	if (!ptc_grow(&f->marks, &f->marks_cap, f->nmarks + 1, sizeof(*f->marks)))
		return ptc_fast_decline(f, "out of memory");
	f->marks[f->nmarks++] = now;
	return PTC_FAST_GO_ON;
}

/* Read the address of the packet at pos. Returns false if it has none. */
static bool take_ip(struct ptc_fast *f, uint64_t *ret)
{
	if (!ptc_pkt_ip(f->bytes + f->pos, f->last_ip, ret))
		return false;
	f->last_ip = *ret;
	return true;
}

/*
 * Use the bits as far as they lead. If ptc_fast_hurry is called next, leave them: it uses them
 * together with later bits. Remaining bits come behind an address that has not come yet. The packet
 * at pos has @n bytes.
 */
static enum ptc_fast_status use_bits(struct ptc_fast *f, int n)
{
	if (!f->plain && !f->due && f->pos + (size_t)n < f->len)
		return PTC_FAST_GO_ON;
	return ptc_fast_flow_bits(&f->flow, &f->bits, &f->nbits) == PTC_FAST_LOST ?
		       PTC_FAST_DECLINED :
		       PTC_FAST_GO_ON;
}

/* Use the first bit of a packet of another time: the mark is behind that bit. */
static enum ptc_fast_status use_first_bit(struct ptc_fast *f)
{
	unsigned int n = 1;

	if (ptc_fast_flow_bits(&f->flow, &f->bits, &n) == PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	f->nbits -= 1 - n;
	return n ? PTC_FAST_GO_ON : mark(f);
}

static enum ptc_fast_status take_tnt(struct ptc_fast *f, int len)
{
	const uint8_t *p = f->bytes + f->pos;
	const int n = ptc_pkt_tnt_bits(p);
	uint64_t v = 0;
	int i;

	if (!is_on(f))
		return ptc_fast_decline(f, "a TNT while tracing is off");
	if (f->nbits)
		return ptc_fast_decline(f, "a TNT for an address");
	if (n < 1)
		return ptc_fast_decline(f, "a TNT without an end");
	if (p[0] == 0x02)
		for (i = PTC_TNT64_LEN - 1; i > 1; i--)
			v = v << 8 | p[i];
	else
		v = p[0] >> 1;
	f->nbits = f->newest = (unsigned int)n;
	f->bits = v << (64 - n);
	if (f->due && use_first_bit(f) == PTC_FAST_DECLINED)
		return PTC_FAST_DECLINED;
	return use_bits(f, len);
}

static enum ptc_fast_status take_tip(struct ptc_fast *f, int len)
{
	uint64_t ip;

	if (!is_on(f))
		return ptc_fast_decline(f, "a TIP while tracing is off");
	if (!take_ip(f, &ip))
		return ptc_fast_decline(f, "a TIP without an address");
	/* For libipt the mode changes as soon as the flow is there. */
	if (f->mode_said && ptc_fast_flow_to(&f->flow, ip) != PTC_FAST_NEEDS_IP)
		return ptc_fast_decline(f, "a change of mode where the flow is not");
	f->mode_said = false;
	if (ptc_fast_flow_tip(&f->flow, ip, f->mode) == PTC_FAST_LOST ||
	    mark(f) == PTC_FAST_DECLINED)
		return PTC_FAST_DECLINED;
	return use_bits(f, len);
}

static enum ptc_fast_status take_pge(struct ptc_fast *f)
{
	enum ptc_fast_reached r;
	uint64_t ip;

	if (is_on(f))
		return ptc_fast_decline(f, "a TIP.PGE while tracing is on");
	if (!take_ip(f, &ip))
		return ptc_fast_decline(f, "a TIP.PGE without an address");
	if (f->no_mode)
		return ptc_fast_decline(f, "a TIP.PGE before any mode");
	f->mode_waits = false;
	r = ptc_fast_flow_begin(&f->flow, ip, f->mode);
	if (r == PTC_FAST_THERE)
		r = ptc_fast_flow_list(&f->flow, ptc_fast_rec(0, ip, PTC_KIND_START));
	return astray(f, r, NULL);
}

/* In the kernel, the packet may belong to a mov to CR3. */
static bool may_change_cr3(const struct ptc_fast *f)
{
	return f->flow.code->blocks[f->flow.at].ip >> 63;
}

/*
 * The last record was in front of a mark at @n. It was listed again, as what it turned out to be,
 * with the later time. So move the mark in front of it.
 */
static void move_mark(struct ptc_fast *f, size_t n)
{
	struct ptc_fast_mark *m = f->nmarks ? &f->marks[f->nmarks - 1] : NULL;

	if (ptc_fast_flow_passed(&f->flow) != n || !m || m->recs != n)
		return;
	m->recs = n - 1;
	m->late = false;
}

static enum ptc_fast_status take_pgd(struct ptc_fast *f)
{
	const bool listed = f->flow.last.listed;
	const size_t n = ptc_fast_flow_passed(&f->flow);
	enum ptc_fast_status r;
	uint64_t ip;
	bool has_ip;

	if (!is_on(f))
		return ptc_fast_decline(f, "a TIP.PGD while tracing is off");
	has_ip = take_ip(f, &ip);
	f->left_at = 0;
	if (!has_ip && may_change_cr3(f))
		return ptc_fast_decline(f, "the end of tracing in a kernel");
	r = astray(f, ptc_fast_flow_off(&f->flow, has_ip, ip), "the end of tracing is not there");
	/* The last instruction, whose branch this is, ran in front of the segment. */
	if (r == PTC_FAST_GO_ON && f->start.on && !f->flow.insns && !ptc_fast_flow_passed(&f->flow))
		return ptc_fast_decline(f, "the end of tracing where a piece begins");
	if (listed)
		move_mark(f, n);
	return r;
}

/*
 * The flow comes to @ip, to an event that does not change the flow. A second event at the same
 * place is declined, because libipt handles that in its own way.
 */
static enum ptc_fast_status take_marker(struct ptc_fast *f, uint64_t ip)
{
	f->marker = f->mwait = false;
	if (!is_on(f))
		return PTC_FAST_GO_ON;
	if (astray(f, ptc_fast_flow_to(&f->flow, ip), "an event where the flow is not") ==
	    PTC_FAST_DECLINED)
		return PTC_FAST_DECLINED;
	if (f->marked && f->marked_insns == f->flow.insns)
		return ptc_fast_decline(f, "two events at one address");
	f->marked = true;
	f->marked_insns = f->flow.insns;
	return PTC_FAST_GO_ON;
}

static enum ptc_fast_status take_mode(struct ptc_fast *f)
{
	const uint8_t bits = f->bytes[f->pos + 1];

	switch (bits >> 5) {
	case 0:
		f->no_mode = false;
		f->mode_said = is_on(f);
		f->mode_waits = !f->mode_said;
		if (f->mode_said && f->strict)
			return ptc_fast_decline(f, "a change of mode");
		return ptc_fast_mode(bits, &f->mode) ? PTC_FAST_GO_ON :
						       ptc_fast_decline(f, "an unknown mode");
	case 1:
		if (is_on(f) && bits & 2)
			return ptc_fast_decline(f, "an aborted transaction");
		f->marker = is_on(f);
		return PTC_FAST_GO_ON;
	default:
		return ptc_fast_decline(f, "an unknown mode");
	}
}

/* Take the target, behind the FUP of an asynchronous event. */
static enum ptc_fast_status take_target(struct ptc_fast *f, uint64_t from, enum ptc_pkt type)
{
	const bool on = type == PTC_PKT_TIP;
	uint64_t to = 0;
	bool has_ip;

	has_ip = take_ip(f, &to);
	if (on && (!has_ip || !to))
		return ptc_fast_decline(f, "a TIP without an address");
	if (!on)
		f->left_at = from;
	return astray(f, ptc_fast_flow_async(&f->flow, from, has_ip ? to : 0, f->mode, on),
		      "an event where the flow is not");
}

/* Take an OVF. Behind it is the address where the trace goes on, if tracing is on there. */
static enum ptc_fast_status take_ovf(struct ptc_fast *f)
{
	enum ptc_pkt type;
	uint64_t ip;
	int n;

	if (f->strict)
		return ptc_fast_decline(f, "an overflow");
	ptc_fast_flow_cut(&f->flow);
	f->last_ip = f->left_at = 0;
	f->mode = f->flow.mode; /* forgets the mode of the next address */
	f->marker = f->mwait = false;
	if (ptc_fast_flow_list(&f->flow, ptc_fast_rec(0, PTC_FAST_OVERFLOW, PTC_KIND_NONE)) ==
	    PTC_FAST_LOST)
		return PTC_FAST_DECLINED;
	for (f->pos += 2;; f->pos += (size_t)n) {
		n = ptc_pkt_len(f->bytes + f->pos, f->len - f->pos, &type);
		/* At the end of the trace libipt fails here, and loses the packets in front. */
		if (n <= 0)
			return ptc_fast_decline(f, f->pos == f->len ? "an overflow at the end" :
								      "no packet");
		if (!ptc_fast_is_time(f->bytes + f->pos, type, &f->tsc))
			break;
	}
	if (type == PTC_PKT_TNT || type == PTC_PKT_TNT64 || type == PTC_PKT_TIP ||
	    type == PTC_PKT_TIP_PGD)
		return ptc_fast_decline(f, "an overflow without an address");
	if (type != PTC_PKT_FUP)
		return PTC_FAST_GO_ON;
	if (!take_ip(f, &ip))
		return ptc_fast_decline(f, "a FUP without an address");
	f->pos += (size_t)n;
	if (f->no_mode)
		return ptc_fast_decline(f, "an overflow before any mode");
	return astray(f, ptc_fast_flow_begin(&f->flow, ip, f->flow.mode), NULL);
}

static enum ptc_fast_status take_async(struct ptc_fast *f, uint64_t from)
{
	enum ptc_pkt type;
	enum ptc_fast_status r;
	int n;

	for (;; f->pos += (size_t)n) {
		n = ptc_pkt_len(f->bytes + f->pos, f->len - f->pos, &type);
		if (n <= 0)
			return ptc_fast_decline(f, "no packet");
		switch (type) {
		case PTC_PKT_TIP:
		case PTC_PKT_TIP_PGD:
			r = take_target(f, from, type);
			f->pos += (size_t)n;
			return r;
		case PTC_PKT_MODE:
			if (f->bytes[f->pos + 1] >> 5 ||
			    !ptc_fast_mode(f->bytes[f->pos + 1], &f->mode))
				return ptc_fast_decline(f, "an unknown mode");
			break;
		case PTC_PKT_PIP:
		case PTC_PKT_VMCS:
			break;
		case PTC_PKT_OVF: /* the flow reached @from, and its target is lost */
			r = astray(f, ptc_fast_flow_to(&f->flow, from),
				   "an event where the flow is not");
			return r == PTC_FAST_GO_ON ? take_ovf(f) : r;
		default:
			if (!ptc_fast_is_time(f->bytes + f->pos, type, &f->tsc))
				return ptc_fast_decline(f, "an event that leads nowhere");
			if (take_time(f, f->bytes + f->pos, type) == PTC_FAST_DECLINED)
				return PTC_FAST_DECLINED;
			if (f->due)
				return ptc_fast_decline(f, "an event of two times");
			break;
		}
	}
}

/* @n: length of the packet. */
static enum ptc_fast_status take_fup(struct ptc_fast *f, int n)
{
	uint64_t ip;

	if (!take_ip(f, &ip))
		return ptc_fast_decline(f, "a FUP without an address");
	f->pos += (size_t)n;
	if (f->marker)
		return take_marker(f, ip);
	return is_on(f) ? take_async(f, ip) : ptc_fast_decline(f, "a FUP while tracing is off");
}

enum { MWAIT = 0xc2, EXSTOP_IP = 0xe2 };

/* @n: length of the packet. */
static enum ptc_fast_status take_other(struct ptc_fast *f, int n)
{
	const uint8_t *p = f->bytes + f->pos;

	if (!ptc_pkt_has_fup(p))
		return PTC_FAST_GO_ON;
	/* A packet whose FUP has a TIP changes nothing. */
	if (ptc_pkt_is_foreign(p, PTC_PKT_OTHER, 0)) {
		const enum ptc_mask_fup fup = ptc_mask_fup(p, (size_t)n, f->len - f->pos);

		if (fup == PTC_MASK_UNDECIDED)
			return ptc_fast_decline(f, "an event without an address");
		if (fup == PTC_MASK_FUP_TIP)
			return f->marker ? ptc_fast_decline(f, "events that share an address") :
					   PTC_FAST_GO_ON;
	}
	if (f->marker && !(f->mwait && p[1] == EXSTOP_IP))
		return ptc_fast_decline(f, "events that share an address");
	f->mwait = p[1] == MWAIT;
	f->marker = true;
	return PTC_FAST_GO_ON;
}

static enum ptc_fast_status take_ptw(struct ptc_fast *f)
{
	if (f->bytes[f->pos + 1] & 0x80)
		f->marker = true;
	else if (is_on(f))
		return ptc_fast_decline(f, "a PTWRITE without an address");
	return PTC_FAST_GO_ON;
}

/* Take the times of the PSB+ in front of @end. The way there from the last branch has that time. */
static enum ptc_fast_status take_psb_times(struct ptc_fast *f, size_t end)
{
	size_t at = f->psb + PTC_PSB_LEN;
	enum ptc_pkt type;

	if (!f->time.on)
		return PTC_FAST_GO_ON;
	for (; at < end; at += (size_t)ptc_pkt_len(f->bytes + at, end - at, &type)) {
		(void)ptc_pkt_len(f->bytes + at, end - at, &type);
		if (ptc_pkt_is_timing(type) &&
		    take_time(f, f->bytes + at, type) == PTC_FAST_DECLINED)
			return PTC_FAST_DECLINED;
	}
	if (!f->time.known)
		return ptc_fast_decline(f, "a PSB+ without a time");
	if (f->began)
		return mark(f);
	f->told = f->time.tsc;
	f->due = false;
	return PTC_FAST_GO_ON;
}

static enum ptc_fast_status take_psb(struct ptc_fast *f)
{
	struct ptc_fast_psb psb;

	if (f->mode_waits)
		return ptc_fast_decline(f, "a mode without an address");
	if (!ptc_fast_psb_read(f->bytes, f->len, f->pos, &f->tsc, &psb))
		return ptc_fast_decline(f, "a PSB+ that is not whole");
	f->psb = f->pos;
	f->pos = psb.end;
	if (take_psb_times(f, psb.end) == PTC_FAST_DECLINED)
		return PTC_FAST_DECLINED;
	f->last_ip = psb.last_ip;
	if (psb.has_mode && f->began && is_on(f) && psb.mode != f->flow.mode)
		return ptc_fast_decline(f, "a PSB+ of another mode");
	if (psb.has_mode)
		f->mode = f->flow.mode = psb.mode;
	if (!f->began && psb.has_ip && !psb.has_mode)
		return ptc_fast_decline(f, "a PSB+ without a mode");
	f->no_mode = !psb.has_mode;
	if (!f->began) {
		f->began = true;
		f->start.on = psb.has_ip;
		f->start.ip = psb.ip;
		f->start.mode = psb.has_mode ? psb.mode : f->mode;
		return psb.has_ip ?
			       astray(f, ptc_fast_flow_begin(&f->flow, psb.ip, f->mode), NULL) :
			       PTC_FAST_GO_ON;
	}
	/* Some processors report where the flow was when tracing went off (erratum BDM70). */
	if (psb.has_ip && !is_on(f) && psb.ip == f->left_at) {
		f->erratum = true;
		return f->strict ? ptc_fast_decline(f, "a PSB+ of an erratum") : PTC_FAST_AT_PSB;
	}
	if (psb.has_ip != is_on(f) || (psb.has_ip && !psb.has_mode))
		return ptc_fast_decline(f, "a PSB+ that says something else");
	if (psb.has_ip && ptc_fast_flow_to(&f->flow, psb.ip) != PTC_FAST_THERE)
		return ptc_fast_decline(f, "a PSB+ where the flow is not");
	return PTC_FAST_AT_PSB;
}

/*
 * Takes the packet of @type and length @n. take_psb, take_fup and take_ovf move f->pos themselves.
 */
static enum ptc_fast_status take_other_packet(struct ptc_fast *f, enum ptc_pkt type, int n)
{
	enum ptc_fast_status r;

	switch (type) {
	case PTC_PKT_PSB:
		return take_psb(f);
	case PTC_PKT_FUP:
		return take_fup(f, n);
	case PTC_PKT_OVF:
		return take_ovf(f);
	case PTC_PKT_TIP_PGE:
		r = take_pge(f);
		break;
	case PTC_PKT_TIP_PGD:
		r = take_pgd(f);
		break;
	case PTC_PKT_MODE:
		r = take_mode(f);
		break;
	case PTC_PKT_PTW:
		r = take_ptw(f);
		break;
	case PTC_PKT_OTHER:
		r = take_other(f, n);
		break;
	case PTC_PKT_PIP:
	case PTC_PKT_VMCS:
	case PTC_PKT_STOP:
		r = is_on(f) ? ptc_fast_decline(f, "another address space while tracing is on") :
			       PTC_FAST_GO_ON;
		break;
	default:
		r = ptc_fast_decline(f, "a packet that is out of place");
		break;
	}
	f->pos += (size_t)n;
	return r;
}

enum ptc_fast_status ptc_fast_packet(struct ptc_fast *f)
{
	enum ptc_pkt type;
	enum ptc_fast_status r;
	int n;

	n = ptc_pkt_len(f->bytes + f->pos, f->len - f->pos, &type);
	if (n <= 0)
		return ptc_fast_decline(f, "no packet");
	if (ptc_fast_is_time(f->bytes + f->pos, type, &f->tsc)) {
		r = take_time(f, f->bytes + f->pos, type);
		if (type == PTC_PKT_CBR && r == PTC_FAST_GO_ON)
			r = f->nbits ? ptc_fast_decline(f, "bits that lead nowhere") : mark(f);
		f->pos += (size_t)n;
		return r;
	}
	if (f->mode_said && type != PTC_PKT_TIP)
		return ptc_fast_decline(f, "a mode without an address");
	/* MWAIT and EXSTOP may share a FUP. */
	if (f->marker && type != PTC_PKT_FUP && type != PTC_PKT_OTHER && type != PTC_PKT_OVF)
		return ptc_fast_decline(f, "an event without an address");
	if (type == PTC_PKT_TNT || type == PTC_PKT_TNT64 || type == PTC_PKT_TIP) {
		r = type == PTC_PKT_TIP ? take_tip(f, n) : take_tnt(f, n);
		f->pos += (size_t)n;
		return r;
	}
	/* All other packets are at the place where these bits lead. */
	if (f->nbits)
		return ptc_fast_decline(f, "bits that lead nowhere");
	if (type != PTC_PKT_PSB && mark(f) == PTC_FAST_DECLINED)
		return PTC_FAST_DECLINED;
	return take_other_packet(f, type, n);
}
