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

	if (r->off_psb < SIZE_MAX)
		return;
	r->off_psb = r->idle_psb = psb;
	r->off_psb_later = ptc_psb_has_event_before(r->window.bytes, from, psb);
	r->off_psb_agrees = off && !r->off_psb_later;
}

/*
 * Returns true if only timing packets are between the recorded PSB with tracing off and the PSB at
 * @psb. Beginning anew once, at the last of such PSBs, is enough. Not behind the next stop, where
 * other code must check something.
 */
static bool goes_with_off_psb(struct ptc_replay *r, const struct ptc_psb_plus *p, size_t psb)
{
	if (r->off_psb == SIZE_MAX || p->mode || psb > ptc_replay_next_stop(r) ||
	    !ptc_psb_is_idle(r->window.bytes, r->idle_psb, psb))
		return false;
	r->idle_psb = psb;
	return true;
}

static void note_psb(struct ptc_replay *r, size_t from, size_t psb)
{
	const struct ptc_psb_plus p = psb_plus_at(r, (ptrdiff_t)psb);

	if (p.whole && !p.ip && !goes_with_off_psb(r, &p, psb))
		note_off_psb(r, from, psb);
	if (p.mode && p.ip && r->ahead_of == SIZE_MAX)
		r->ahead_of = psb;
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
		psb = ptc_ahead_next_psb(&r->ahead, at);
	return psb < SIZE_MAX ? psb : ptc_span_next_psb(span_of(r), from);
}

void ptc_replay_look_for_next_psb(struct ptc_replay *r, size_t from)
{
	r->left_end = 0;
	r->next_psb = r->psb = next_psb(r, from);
}

void ptc_replay_look_for_psb(struct ptc_replay *r, ptrdiff_t psb, size_t from)
{
	const struct ptc_psb_plus p = psb_plus_at(r, psb);
	const ptrdiff_t end = psb + (ptrdiff_t)p.len;

	ptc_replay_look_for_next_psb(r, from);
	if (p.whole)
		r->psb = ptc_span_next_psbend(
			span_of(r), end > (ptrdiff_t)from ? (size_t)end : from, r->next_psb);
}

/* The decoder passed a possible PSBEND, whose PSB may be lost. */
static void pass_psbend(struct ptc_replay *r, size_t from)
{
	const size_t end = r->psb + PTC_PSBEND_LEN;

	if (r->psb < from || r->psb < r->floor ||
	    !ptc_psb_find_rest(&r->way, r->window.bytes, r->psb, &r->left)) {
		r->psb = ptc_span_next_psbend(span_of(r), end, r->next_psb);
		return;
	}
	r->swallowed = true;
	r->left_end = end;
	r->left.ip &= r->left.at >= r->floor;
	if (r->left.ip)
		r->psb = r->left.at;
}

bool ptc_replay_tell_of_rest(struct ptc_replay *r)
{
	while (r->swallowed && r->left_end && !r->left.ip) {
		ptc_replay_tell_of(r, r->left.at);
		r->psb = ptc_span_next_psbend(span_of(r), r->left_end, r->next_psb);
		r->swallowed = false;
		r->left_end = 0;
		ptc_replay_pass_psbs(r);
	}
	return !r->swallowed;
}

void ptc_replay_pass_psbs(struct ptc_replay *r)
{
	const size_t from = first_sure(r, r->prev_off);

	if (r->way_from != from) {
		ptc_psb_walk_begin(&r->way, from);
		r->way_from = from;
	}
	/* Behind the window the decoder saw no trace, and must begin anew there. */
	while (r->psb < r->off && r->psb < r->window.upto && !r->swallowed) {
		if (r->psb < r->next_psb) {
			pass_psbend(r, from);
			continue;
		}
		if (r->psb >= from &&
		    !ptc_psb_is_packet(&r->way, r->window.bytes, r->psb, r->off)) {
			r->swallowed = true;
			return;
		}
		if (r->psb >= from)
			note_psb(r, from, r->psb);
		ptc_replay_look_for_psb(r, (ptrdiff_t)r->psb, r->psb + PTC_PSB_LEN);
	}
}

size_t ptc_replay_begin_event(struct ptc_replay *r)
{
	if (r->off_psb_agrees)
		r->off_psb = SIZE_MAX;
	r->off_psb_later = r->off_psb_agrees = false;
	return r->ahead_of;
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
	psb = ptc_psb_left_behind(r->window.bytes, first_sure(r, r->from), to,
				  ev->ip_suppressed == off);
	if (psb == SIZE_MAX || psb < r->floor)
		return false;
	r->ahead_of = psb;
	return true;
}

size_t ptc_replay_came_to_psb(struct ptc_replay *r, const struct pt_event *ev, size_t due)
{
	size_t psb = SIZE_MAX;

	if (is_of_psb(ev) && !r->at_first) {
		psb = due;
		if (r->ahead_of == due)
			r->ahead_of = SIZE_MAX;
	}
	if (is_of_psb(ev))
		r->at_first = false;
	if (psb == SIZE_MAX && r->off_psb < SIZE_MAX && !r->off_psb_later &&
	    r->status & pts_ip_suppressed)
		psb = r->idle_psb;
	return psb >= r->floor && !ptc_window_passed(&r->window, r->off) ? psb : SIZE_MAX;
}

size_t ptc_replay_psb_ahead(const struct ptc_replay *r)
{
	/* If the decoder failed, the flow did not come to a PSB. */
	const bool off = r->off_psb_later || r->status < 0 || r->status & pts_ip_suppressed;

	return off && r->off_psb < r->ahead_of ? r->off_psb : r->ahead_of;
}

size_t ptc_replay_missed_psb(const struct ptc_replay *r)
{
	size_t psb = r->swallowed ? r->psb : r->ahead_of;

	if (r->off_psb < psb && !r->off_psb_later && !r->off_psb_agrees)
		psb = r->off_psb;
	return psb >= r->floor ? psb : SIZE_MAX;
}
