/* SPDX-License-Identifier: MIT */
/*
 * PSBs that a replay passes. The decoder reads ahead: the flow has not reached a PSB that was read.
 * If the PSB+ has the execution mode, the decoder reports it as an event. Where tracing is off, the
 * PSB+ may have no mode, and no event is reported.
 */
#include <intel-pt.h>

#include "decode/libipt/replay_state.h"
#include "decode/libipt/resync.h"
#include "decode/stream/psb.h"

/*
 * The decoder read the PSB at @psb, with tracing off; @from is its position before. An event in
 * front of the PSB is the next one reported, because only one event is read ahead.
 */
static void note_off_psb(struct ptc_replay *r, size_t from, size_t psb)
{
	const bool off = r->status >= 0 && r->status & pts_ip_suppressed;

	if (r->psbs.off_psb < SIZE_MAX)
		return;
	r->psbs.off_psb = r->psbs.idle_psb = psb;
	r->psbs.off_psb_later = ptc_psb_has_event_before(r->window.bytes, from, psb);
	r->psbs.off_psb_agrees = off && !r->psbs.off_psb_later;
}

/*
 * Returns true if only timing packets are between the recorded PSB with tracing off and the PSB at
 * @psb. Beginning anew once, at the last of such PSBs, is enough. Not behind the next stop, where
 * other code must check something.
 */
static bool goes_with_off_psb(struct ptc_replay *r, const struct ptc_psb_plus *p, size_t psb)
{
	if (r->psbs.off_psb == SIZE_MAX || p->mode || psb > next_stop(r) ||
	    !ptc_psb_is_idle(r->window.bytes, r->psbs.idle_psb, psb))
		return false;
	r->psbs.idle_psb = psb;
	return true;
}

static void note_psb(struct ptc_replay *r, size_t from, size_t psb)
{
	const struct ptc_psb_plus p = psb_plus_at(r, (ptrdiff_t)psb);

	if (p.whole && !p.ip && !goes_with_off_psb(r, &p, psb))
		note_off_psb(r, from, psb);
	if (p.mode && p.ip && r->psbs.ahead_of == SIZE_MAX)
		r->psbs.ahead_of = psb;
}

/*
 * Returns the first PSB at or behind @from. It is usually known already, from making segments or
 * from finding the latest possible time.
 */
static size_t next_psb(struct ptc_replay *r, size_t from)
{
	const struct ptc_spot at = { r->span, from };
	size_t psb = r->conf.psbs ? ptc_psbs_find(r->conf.psbs, at) : SIZE_MAX;

	if (psb == SIZE_MAX)
		psb = ptc_time_bound_next_psb(&r->time.ahead, at);
	return psb < SIZE_MAX ? psb : ptc_span_next_psb(span_of(r), from);
}

void ptc_replay_look_for_next_psb(struct ptc_replay *r, size_t from)
{
	r->psbs.left_end = 0;
	r->psbs.next = r->psbs.check = next_psb(r, from);
}

void ptc_replay_look_for_psb(struct ptc_replay *r, ptrdiff_t psb, size_t from)
{
	const struct ptc_psb_plus p = psb_plus_at(r, psb);
	const ptrdiff_t end = psb + (ptrdiff_t)p.len;

	ptc_replay_look_for_next_psb(r, from);
	if (p.whole)
		r->psbs.check = ptc_span_next_psbend(
			span_of(r), end > (ptrdiff_t)from ? (size_t)end : from, r->psbs.next);
}

/* The decoder passed a possible PSBEND, whose PSB may be lost. */
static void pass_psbend(struct ptc_replay *r, size_t from)
{
	const size_t end = r->psbs.check + PTC_PSBEND_LEN;

	if (r->psbs.check < from || r->psbs.check < r->place.floor ||
	    !ptc_psb_find_rest(&r->psbs.way, r->window.bytes, r->psbs.check, &r->psbs.left)) {
		r->psbs.check = ptc_span_next_psbend(span_of(r), end, r->psbs.next);
		return;
	}
	r->psbs.swallowed = true;
	r->psbs.left_end = end;
	r->psbs.left.ip &= r->psbs.left.at >= r->place.floor;
	if (r->psbs.left.ip)
		r->psbs.check = r->psbs.left.at;
}

bool ptc_replay_tell_of_rest(struct ptc_replay *r)
{
	while (r->psbs.swallowed && r->psbs.left_end && !r->psbs.left.ip) {
		ptc_replay_tell_of(r, r->psbs.left.at);
		r->psbs.check = ptc_span_next_psbend(span_of(r), r->psbs.left_end, r->psbs.next);
		r->psbs.swallowed = false;
		r->psbs.left_end = 0;
		ptc_replay_pass_psbs(r);
	}
	return !r->psbs.swallowed;
}

void ptc_replay_pass_psbs(struct ptc_replay *r)
{
	const size_t from = first_sure(r, r->place.prev_off);

	if (r->psbs.way_from != from) {
		ptc_psb_walk_begin(&r->psbs.way, from);
		r->psbs.way_from = from;
	}
	/* Behind the window the decoder saw no trace, and must begin anew there. */
	while (r->psbs.check < r->place.off && r->psbs.check < r->window.upto &&
	       !r->psbs.swallowed) {
		if (r->psbs.check < r->psbs.next) {
			pass_psbend(r, from);
			continue;
		}
		if (r->psbs.check >= from && !ptc_psb_is_packet(&r->psbs.way, r->window.bytes,
								r->psbs.check, r->place.off)) {
			r->psbs.swallowed = true;
			return;
		}
		if (r->psbs.check >= from)
			note_psb(r, from, r->psbs.check);
		ptc_replay_look_for_psb(r, (ptrdiff_t)r->psbs.check, r->psbs.check + PTC_PSB_LEN);
	}
}

size_t ptc_replay_begin_event(struct ptc_replay *r)
{
	if (r->psbs.off_psb_agrees)
		r->psbs.off_psb = SIZE_MAX;
	r->psbs.off_psb_later = r->psbs.off_psb_agrees = false;
	return r->psbs.ahead_of;
}

static bool is_of_psb(const struct pt_event *ev)
{
	return ev->status_update && ev->type == ptev_exec_mode;
}

bool ptc_replay_strayed(struct ptc_replay *r, const struct pt_event *ev, bool off, size_t to)
{
	size_t psb;

	if (!is_of_psb(ev))
		return false;
	psb = ptc_psb_left_behind(r->window.bytes, first_sure(r, r->place.from), to,
				  ev->ip_suppressed == off);
	if (psb == SIZE_MAX || psb < r->place.floor)
		return false;
	r->psbs.ahead_of = psb;
	return true;
}

size_t ptc_replay_came_to_psb(struct ptc_replay *r, const struct pt_event *ev, size_t due)
{
	size_t psb = SIZE_MAX;

	if (is_of_psb(ev) && !r->psbs.at_first) {
		psb = due;
		if (r->psbs.ahead_of == due)
			r->psbs.ahead_of = SIZE_MAX;
	}
	if (is_of_psb(ev))
		r->psbs.at_first = false;
	if (psb == SIZE_MAX && r->psbs.off_psb < SIZE_MAX && !r->psbs.off_psb_later &&
	    r->status & pts_ip_suppressed)
		psb = r->psbs.idle_psb;
	return psb >= r->place.floor && !ptc_window_passed(&r->window, r->place.off) ? psb :
										       SIZE_MAX;
}

size_t ptc_replay_psb_ahead(const struct ptc_replay *r)
{
	/* If the decoder failed, the flow did not come to a PSB. */
	const bool off = r->psbs.off_psb_later || r->status < 0 || r->status & pts_ip_suppressed;

	return off && r->psbs.off_psb < r->psbs.ahead_of ? r->psbs.off_psb : r->psbs.ahead_of;
}

size_t ptc_replay_missed_psb(const struct ptc_replay *r)
{
	size_t psb = r->psbs.swallowed ? r->psbs.check : r->psbs.ahead_of;

	if (r->psbs.off_psb < psb && !r->psbs.off_psb_later && !r->psbs.off_psb_agrees)
		psb = r->psbs.off_psb;
	return psb >= r->place.floor ? psb : SIZE_MAX;
}
