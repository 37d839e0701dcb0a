/* SPDX-License-Identifier: MIT */
/* Lists libipt's events, and the packets that libipt does not know. */
#include <intel-pt.h>

#include "arch/pt_packet.h"
#include "decode/items/event.h"
#include "decode/libipt/replay_state.h"
#include "decode/stream/unknown_packets.h"

/* Finds the last FUP in [@from, @to). It waits for its TIP unless it has an event of its own. */
static void note_fup(struct ptc_replay *r, size_t from, size_t to)
{
	const uint8_t *bytes = r->window.bytes;
	size_t at = ptc_find_packet(bytes, from, to, PTC_PKT_FUP), len;

	for (; at < to; at = ptc_find_packet(bytes, at + len, to, PTC_PKT_FUP)) {
		len = ptc_pkt_ip_len(bytes[at]);
		r->proof.fup_end = len > 1 ? at + len : 0;
	}
}

void ptc_replay_note_place(struct ptc_replay *r, size_t from, size_t to)
{
	const struct ptc_branch_builder *t = &r->trail;
	const size_t ovf = ptc_find_packet(r->window.bytes, from, to, PTC_PKT_OVF);

	r->proof.before = r->proof.open_fup = 0;
	if (!(r->status & pts_ip_suppressed))
		note_fup(r, from, ovf);
	if (ovf >= to)
		return;
	if (r->proof.fup_end) {
		ptc_walker_pass(&r->walk, r->proof.fup_end);
		r->proof.open_fup = r->walk.last_ip;
	}
	if (r->proof.fup_end || (t->last.valid && ptc_branch_builder_needs_trace(t->last.kind)))
		r->proof.before = ptc_replay_current_ip(r);
}

/* Returns true if @ev may come between a FUP and the TIP that the FUP waits for. */
static bool leaves_fup(const struct pt_event *ev)
{
	return ev->type == ptev_cbr || ev->type == ptev_pwre || ev->type == ptev_pwrx ||
	       ev->type == ptev_mnt || ev->type == ptev_tick;
}

/* Returns the IP that the flow has reached when libipt reports @ev; 0: @ev has no IP. */
static uint64_t ip_of(const struct pt_event *ev)
{
	if (ev->ip_suppressed)
		return 0;
	switch (ev->type) {
	case ptev_exec_mode:
		return ev->variant.exec_mode.ip;
	case ptev_tsx:
		return ev->variant.tsx.ip;
	case ptev_exstop:
		return ev->variant.exstop.ip;
	case ptev_mwait:
		return ev->variant.mwait.ip;
	case ptev_ptwrite:
		return ev->variant.ptwrite.ip;
	case ptev_async_paging:
		return ev->variant.async_paging.ip;
	case ptev_async_vmcs:
		return ev->variant.async_vmcs.ip;
	default:
		return 0;
	}
}

/* Lists all branches in front of the overflow that packets had proven. */
static void list_proven(struct ptc_replay *r, uint64_t time)
{
	const struct ptc_branch_builder *t = &r->trail;

	if (r->proof.open_fup && ptc_branch_builder_reach(&r->trail, r->proof.before,
							  r->proof.open_fup, r->code.mode, time))
		return;
	if (!t->last.valid)
		return;
	if (ptc_branch_builder_needs_trace(t->last.kind))
		ptc_replay_land(r, r->proof.before);
	else if (r->proof.event_ip)
		ptc_replay_land(r, r->proof.event_ip);
}

static void list_overflow(struct ptc_replay *r, size_t from, size_t to, uint64_t time)
{
	const struct ptc_span *sp = span_of(r);
	const size_t at = ptc_span_find(sp, from, to, PTC_PKT_OVF);

	list_proven(r, time);
	ptc_branch_builder_cut(&r->trail);
	ptc_out_gap(&r->out, PTC_GAP_OVERFLOW, sp->base + (at < to ? at : from), 0, time);
}

/* Lists @ev as an EVENT item if the options ask for events. */
static void list_event(struct ptc_replay *r, const struct pt_event *ev, uint64_t time)
{
	struct ptc_pt_event e = ptc_pt_event_of(ev);

	if (!r->conf.opts->events || e.kind == PTC_EVENT_NONE)
		return;
	e.time = time;
	ptc_replay_list_gap(r, time);
	ptc_branch_builder_event(&r->trail, &e);
}

static void list_masked(struct ptc_replay *r, const struct ptc_masked *k, uint64_t ip,
			uint64_t time)
{
	const struct ptc_pt_event e = {
		.kind = k->kind, .ip = ip, .value = k->value, .time = time
	};

	ptc_replay_list_gap(r, time);
	ptc_branch_builder_event(&r->trail, &e);
	ptc_mask_take(&r->window.mask);
}

void ptc_replay_list_masked(struct ptc_replay *r, size_t upto, uint64_t time)
{
	const struct ptc_masked *k;

	while ((k = ptc_mask_next(&r->window.mask, upto)) != NULL &&
	       (k->fup == PTC_MASK_NO_FUP || k->off < r->place.from))
		list_masked(r, k, 0, not_before(r->time.told, time));
}

/*
 * Lists the masked packets in front of @to. Returns true if @ev is only the stand-in for one of
 * them.
 */
static bool take_masked(struct ptc_replay *r, const struct pt_event *ev, size_t to, uint64_t time)
{
	const bool exstop = ev->type == ptev_exstop;
	const struct ptc_masked *k;
	uint64_t ip = 0;

	if (exstop)
		ip = ev->ip_suppressed ? 0 : ev->variant.exstop.ip;
	else if (ev->type == ptev_async_branch)
		ip = ev->variant.async_branch.from;
	else if (ev->type == ptev_async_disabled)
		ip = ev->variant.async_disabled.at;
	else
		return false;
	while ((k = ptc_mask_next(&r->window.mask, to)) != NULL) {
		const bool is_it = k->fup == (exstop ? PTC_MASK_FUP : PTC_MASK_FUP_TIP);

		list_masked(r, k, is_it ? ip : 0, time);
		if (is_it)
			return exstop;
	}
	return false;
}

void ptc_replay_take_event(struct ptc_replay *r, const struct pt_event *ev, size_t from, size_t to,
			   uint64_t bound)
{
	const uint64_t time =
		not_before(r->time.told, ev->has_tsc ? to_ns(r, ev->tsc, bound) : r->time.now);

	r->time.told = time;
	if (ip_of(ev))
		r->proof.event_ip = ip_of(ev);
	if (!leaves_fup(ev))
		r->proof.fup_end = 0;
	ptc_branch_builder_progress(&r->trail);
	r->idle = 0;
	r->in_block = false;
	if (ev->status_update || (r->conf.opts->events && take_masked(r, ev, to, time)))
		return;
	switch (ev->type) {
	case ptev_enabled:
		list_event(r, ev, time);
		ptc_replay_list_gap(r, time);
		ptc_branch_builder_start(&r->trail, ev->variant.enabled.ip, time);
		break;
	case ptev_disabled:
		ptc_replay_list_gap(r, time);
		ptc_branch_builder_exit(&r->trail, ev->ip_suppressed ? 0 : ev->variant.disabled.ip,
					time);
		break;
	case ptev_async_disabled:
		ptc_replay_list_gap(r, time);
		ptc_branch_builder_async(&r->trail, ev->variant.async_disabled.at,
					 ev->ip_suppressed ? 0 : ev->variant.async_disabled.ip,
					 time);
		break;
	case ptev_async_branch:
		ptc_replay_list_gap(r, time);
		ptc_branch_builder_async(&r->trail, ev->variant.async_branch.from,
					 ev->variant.async_branch.to, time);
		break;
	case ptev_overflow:
		ptc_replay_list_gap(r, time);
		list_overflow(r, from, to, time);
		break;
	default:
		break;
	}
	if (ev->type != ptev_enabled)
		list_event(r, ev, time);
}
