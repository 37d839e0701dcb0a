/* SPDX-License-Identifier: MIT */
#include "decode/libipt/ipt_track.h"

#include <string.h>

#include "arch/pt_packet.h"
#include "base/err.h"
#include "decode/stream/psb.h"

#if LIBIPT_VERSION >= 0x201

int ptc_ipt_track_init(struct ptc_ipt_track *t, const struct pt_config *config, struct ptc_err *err)
{
	struct pt_config own = *config;

	memset(&own.flags, 0, sizeof(own.flags)); /* flags for a block decoder */
	pt_evt_free_decoder(t->dec);
	*t = (struct ptc_ipt_track){ .dec = pt_evt_alloc_decoder(&own),
				     .bytes = config->begin,
				     .len = (size_t)(config->end - config->begin) };
	return t->dec ? 0 : ptc_fail_mem(err);
}

void ptc_ipt_track_release(struct ptc_ipt_track *t)
{
	pt_evt_free_decoder(t->dec);
	t->dec = NULL;
}

static void read_next(struct ptc_ipt_track *t)
{
	struct ptc_ipt_read *n = &t->next;

	if (n->status < 0)
		return;
	n->status = pt_evt_next(t->dec, &n->ev, sizeof(n->ev));
	if (n->status < 0 || pt_evt_get_offset(t->dec, &n->end) < 0)
		n->ev.type = ptev_tick; /* callers ask for no event of this type */
}

static bool has(const struct ptc_ipt_track *t, enum pt_event_type type)
{
	return t->cur.status >= 0 && t->cur.ev.type == type;
}

/* Is cur a state that libipt 2.0 does not report? */
static bool is_new(const struct ptc_ipt_track *t)
{
	return (has(t, ptev_enabled) || has(t, ptev_disabled)) && t->cur.ev.status_update;
}

/* libipt 2.0 reads the next packet before it uses one: bytes that are no packet count first. */
static void look_behind(struct ptc_ipt_track *t)
{
	const int next = t->next.status;

	t->fails = t->cur.status >= 0 && (next == -pte_bad_opc || next == -pte_bad_packet);
	t->failed = false;
}

/* Is the event decoder still at the packet of cur? It is, if that packet may have more events. */
static bool is_at_packet(const struct ptc_ipt_track *t)
{
	const struct pt_event *ev = &t->cur.ev;

	switch (ev->type) {
	case ptev_enabled:
	case ptev_async_disabled:
	case ptev_async_branch:
	case ptev_async_paging:
	case ptev_async_vmcs:
	case ptev_exec_mode:
	case ptev_tsx:
	case ptev_tip:
		return true;
	case ptev_overflow:
	case ptev_ptwrite:
	case ptev_exstop:
	case ptev_mwait:
		return !ev->ip_suppressed; /* if suppressed, no FUP gives the place */
	default:
		return ev->status_update;
	}
}

/* Does the packet of cur have more events? */
static bool has_more_of_packet(const struct ptc_ipt_track *t)
{
	return is_at_packet(t) && t->next.status >= 0 && t->next.end == t->cur.end;
}

/* Returns the packet behind the packet of cur. Returns the packet of cur, if it has more events. */
static uint64_t behind(const struct ptc_ipt_track *t)
{
	const uint64_t end = t->cur.end;
	enum ptc_pkt type;
	int len;

	if (!is_at_packet(t) || has_more_of_packet(t) || end >= t->len)
		return end;
	len = ptc_pkt_len(t->bytes + end, t->len - end, &type);
	return len > 0 ? end + (uint64_t)len : end;
}

/* Moves on to the next event: the block decoder has used the current one. */
static void advance(struct ptc_ipt_track *t)
{
	if (t->cur.status < 0)
		return;
	t->before = behind(t);
	if (!is_new(t) && t->cur.ev.has_tsc) {
		t->timed = true;
		t->tsc = t->cur.ev.tsc;
	}
	t->cur = t->next;
	read_next(t);
	t->bits = has(t, ptev_tnt) ? t->cur.ev.variant.tnt.size : 0;
	t->touched = false;
	look_behind(t);
}

/* The packet behind cur cannot be read, so cur is not used. */
static int give_up(struct ptc_ipt_track *t)
{
	t->failed = true;
	return t->next.status;
}

/*
 * libipt 2.0 reports the end of the trace when the last event is used. libipt 2.1 reports it later,
 * or when it has read that event. Returns the status of 2.0.
 */
static int with_end(struct ptc_ipt_track *t, int status)
{
	if (status < 0)
		return status;
	if (t->fails && !has(t, ptev_tnt) && !has(t, ptev_tip))
		return give_up(t);
	if (t->cur.status >= 0)
		return status & ~(int)pts_eos;
	return t->cur.status == -pte_eos && !(status & pts_event_pending) ? status | pts_eos :
									    status;
}

/* Passes over events that libipt 2.0 does not have. Returns the status behind them. */
static int pass_new(struct ptc_ipt_track *t, struct pt_block_decoder *dec, int status)
{
	struct pt_event ev;
	struct pt_block b;

	while (status >= 0 && is_new(t)) {
		/* If tracing is off, libipt finds the event only when it is asked for the flow. */
		if (!(status & pts_event_pending) && status & pts_ip_suppressed)
			status = pt_blk_next(dec, &b, sizeof(b));
		if (status < 0 || !(status & pts_event_pending))
			return with_end(t, status);
		status = pt_blk_event(dec, &ev, sizeof(ev));
		advance(t);
	}
	return with_end(t, status);
}

int ptc_ipt_track_sync(struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t at)
{
	const int status = pt_blk_sync_set(dec, at);

	t->timed = t->touched = t->due = false;
	t->bits = 0;
	t->before = t->cur.end = t->next.end = at;
	t->looked_from = UINT64_MAX;
	t->cur.status = t->next.status = pt_evt_sync_set(t->dec, at);
	read_next(t);
	t->cur = t->next;
	read_next(t);
	look_behind(t);
	return pass_new(t, dec, status);
}

/*
 * Returns the mode of a MODE.Exec in front of cur, a TIP.PGE. ptem_unknown: libipt 2.1 has an event
 * for it, or there is none. libipt 2.1 has no event for a mode that it knew already.
 */
static enum pt_exec_mode mode_of_enabled(const struct ptc_ipt_track *t)
{
	enum pt_exec_mode mode = ptem_unknown;
	const uint8_t *p = t->bytes;
	enum ptc_pkt type;
	uint64_t at;
	int len;

	if (!has(t, ptev_enabled) || t->cur.ev.status_update || has_more_of_packet(t))
		return ptem_unknown;
	for (at = t->before; at < t->cur.end; at += (uint64_t)len) {
		len = ptc_pkt_len(p + at, t->cur.end - at, &type);
		if (len <= 0)
			return ptem_unknown;
		if (type == PTC_PKT_MODE && p[at + 1] >> 5 == 0) /* CS.L, CS.D */
			mode = p[at + 1] & 1 ? ptem_64bit : p[at + 1] & 2 ? ptem_32bit : ptem_16bit;
	}
	return mode;
}

/* cur, a TIP.PGE, was used with @status. An event for @mode follows it. */
static int add_mode(struct ptc_ipt_track *t, const struct pt_event *enabled, enum pt_exec_mode mode,
		    int status)
{
	t->due = true;
	t->due_status = status;
	t->due_event = *enabled;
	t->due_event.type = ptev_exec_mode;
	t->due_event.variant.exec_mode.mode = mode;
	t->due_event.variant.exec_mode.ip = enabled->variant.enabled.ip;
	return (status | pts_event_pending) & ~(int)(pts_eos | pts_ip_suppressed);
}

int ptc_ipt_track_event(struct ptc_ipt_track *t, struct pt_block_decoder *dec, struct pt_event *ev)
{
	const enum pt_event_type none = ev->type;
	enum pt_exec_mode mode;
	int status;

	if (t->due) {
		t->due = false;
		*ev = t->due_event;
		return t->due_status;
	}
	mode = mode_of_enabled(t);
	status = pt_blk_event(dec, ev, sizeof(*ev));
	if (status < 0 && ev->type == none)
		return status;
	advance(t);
	status = pass_new(t, dec, status);
	return mode != ptem_unknown && status >= 0 ? add_mode(t, ev, mode, status) : status;
}

/* Did the block use an address? Then the block decoder has read on from @end. */
static bool used_ip(struct pt_block_decoder *dec, uint64_t end)
{
	uint64_t at;

	return pt_blk_get_offset(dec, &at) >= 0 && at != end;
}

/* Same, for the last address that can be read. Then @status tells what follows. */
static bool used_last(int status)
{
	return status > 0 && status & (int)(pts_eos | pts_event_pending);
}

int ptc_ipt_track_use(struct ptc_ipt_track *t, struct pt_block_decoder *dec, int status,
		      const struct pt_block *b)
{
	const bool takes_bit = b->iclass == ptic_cond_jump || b->iclass == ptic_return;

	/* The next packet could not be read: return the reason, as libipt 2.0 does. */
	if (status == -pte_bad_query && t->cur.status < 0)
		status = t->cur.status;
	if (!b->ninsn || (!takes_bit && b->iclass == ptic_other))
		return pass_new(t, dec, status);
	if (has(t, ptev_tnt) && takes_bit && t->bits) {
		t->touched = true;
		if (!--t->bits)
			advance(t);
	} else if (has(t, ptev_tip) && b->iclass != ptic_cond_jump &&
		   (b->iclass == ptic_return ||
		    (t->next.status < 0 ? used_last(status) : used_ip(dec, t->cur.end)))) {
		if (t->fails)
			return give_up(t);
		advance(t);
	}
	return pass_new(t, dec, status);
}

/* Does decoding the PSB+ at @p produce events? */
static bool has_events(const uint8_t *p, size_t n)
{
	size_t at = PTC_PSB_LEN;
	enum ptc_pkt type;
	int len;

	while ((len = ptc_pkt_len(p + at, n - at, &type)) > 0 && type != PTC_PKT_PSBEND &&
	       type != PTC_PKT_OVF) {
		if (type != PTC_PKT_FUP && (type == PTC_PKT_CBR || !ptc_pkt_is_timing(type)))
			return true;
		at += (size_t)len;
	}
	return false;
}

/*
 * Returns the next packet at or behind @at that affects the flow, or is an event. libipt 2.0 reads
 * on to there. For a PSB+ it is the packet that ends it.
 */
static uint64_t ahead(const struct ptc_ipt_track *t, uint64_t at)
{
	bool in_psb = false, events = false;
	enum ptc_pkt type;
	int len;

	for (; at < t->len; at += (uint64_t)len) {
		len = ptc_pkt_len(t->bytes + at, t->len - at, &type);
		if (len <= 0)
			return at;
		if (type == PTC_PKT_PSB) {
			in_psb = true;
			events = has_events(t->bytes + at, t->len - at);
		} else if (in_psb) {
			if (type == PTC_PKT_OVF || (type == PTC_PKT_PSBEND && events))
				return at;
			in_psb = type != PTC_PKT_PSBEND;
		} else if (type == PTC_PKT_CBR || (!ptc_pkt_is_timing(type) &&
						   type != PTC_PKT_FUP && type != PTC_PKT_PSBEND)) {
			return at;
		}
	}
	return t->len;
}

/* Has the block decoder used cur, or is it using it? */
static bool is_used(const struct ptc_ipt_track *t)
{
	return t->cur.status >= 0 && !t->failed && !has(t, ptev_tip) &&
	       (!has(t, ptev_tnt) || t->touched);
}

bool ptc_ipt_track_offset(struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t *ret)
{
	const uint64_t from = is_used(t) && !t->due ? behind(t) : t->before;

	(void)dec;
	if (is_used(t) && !t->due &&
	    (has_more_of_packet(t) || mode_of_enabled(t) != ptem_unknown)) {
		*ret = t->cur.end;
		return true;
	}
	if (from != t->looked_from) {
		t->looked = ahead(t, from);
		t->looked_from = from;
	}
	*ret = t->looked;
	return true;
}

bool ptc_ipt_track_time(const struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t *ret)
{
	(void)dec;
	if (is_used(t) && !t->due && !is_new(t) && t->cur.ev.has_tsc) {
		*ret = t->cur.ev.tsc;
		return true;
	}
	*ret = t->tsc;
	return t->timed;
}

#else

int ptc_ipt_track_init(struct ptc_ipt_track *t, const struct pt_config *config, struct ptc_err *err)
{
	(void)t;
	(void)config;
	(void)err;
	return 0;
}

void ptc_ipt_track_release(struct ptc_ipt_track *t)
{
	(void)t;
}

int ptc_ipt_track_sync(struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t at)
{
	(void)t;
	return pt_blk_sync_set(dec, at);
}

int ptc_ipt_track_event(struct ptc_ipt_track *t, struct pt_block_decoder *dec, struct pt_event *ev)
{
	(void)t;
	return pt_blk_event(dec, ev, sizeof(*ev));
}

bool ptc_ipt_track_offset(struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t *ret)
{
	(void)t;
	return pt_blk_get_offset(dec, ret) >= 0;
}

bool ptc_ipt_track_time(const struct ptc_ipt_track *t, struct pt_block_decoder *dec, uint64_t *ret)
{
	(void)t;
	return pt_blk_time(dec, ret, NULL, NULL) >= 0;
}

#endif
