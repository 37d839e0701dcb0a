/* SPDX-License-Identifier: MIT */
#include <string.h>

#include <intel-pt.h>

#include "decode/image/diagnostics.h"
#include "decode/image/ipt_image.h"
#include "decode/libipt/replay_state.h"

void ptc_replay_close_span(struct ptc_replay *r)
{
	pt_blk_free_decoder(r->dec);
	r->dec = NULL;
	ptc_ipt_track_release(&r->track);
	ptc_window_release(&r->window);
	r->status = 0;
}

static void init_walk(struct ptc_replay *r)
{
	const struct ptc_ipt_params *p = &r->conf.ipt->params;

	ptc_walker_init_window(&r->walk, &r->window);
	r->walk.rate = (struct ptc_mtc_rate){ p->mtc_freq, p->tsc_ctc_n, p->tsc_ctc_d };
}

/*
 * Starts the decoder at @at. The decoder may read more of the PSB+, and of the bytes behind it,
 * than a peek has filled. Then it is started again.
 */
static int sync(struct ptc_replay *r, ptrdiff_t at)
{
	const uint64_t pos = (uint64_t)((ptrdiff_t)room_of(r) + at);
	static_assert((int)PTC_WINDOW_MARGIN >= (int)PTC_PSB_PLUS_MAX, "a PSB+ read over is seen");
	const bool all = !ptc_window_is_stale(&r->window, r->place.from);
	const int status = ptc_ipt_track_sync(&r->track, r->dec, pos);

	if (all || (status >= 0 && !ptc_window_peeked(&r->window, ptc_replay_position(r))))
		return status;
	ptc_window_move(&r->window, r->place.from);
	return ptc_ipt_track_sync(&r->track, r->dec, pos);
}

/* Returns true if a segment may be handed over behind a PSB, without use of the decoder. */
static bool may_be_piece(const struct ptc_replay *r)
{
	return r->conf.engine ? !r->conf.engine->verify : r->made != NULL;
}

/* Decoding begins at @from of the span, without any state from in front. */
static void begin_at(struct ptc_replay *r, size_t from, size_t floor)
{
	r->place.from = r->place.off = from;
	r->place.floor = floor;
	r->psbs.swallowed = false;
	r->psbs.ahead_of = r->psbs.off_psb = r->psbs.way_from = SIZE_MAX;
	r->psbs.off_psb_later = r->psbs.off_psb_agrees = false;
	r->code.modeless = true;
	r->parked = false;
	r->proof.event_ip = r->proof.fup_end = 0;
}

/* Begins at a PSB of the trace, not at a graft. */
static void begin_walk(struct ptc_replay *r)
{
	r->fresh = true;
	r->place.clean = r->place.from;
	init_walk(r); /* the walker forgets the bytes in front, too */
	ptc_walker_begin(&r->walk, r->place.from);
}

/* Starts the decoder at @at of the span. @from and @floor say how far the span counts as read. */
static int sync_at(struct ptc_replay *r, ptrdiff_t at, size_t from, size_t floor)
{
	if (at == (ptrdiff_t)from && may_be_piece(r))
		ptc_window_peek(&r->window, from);
	else
		ptc_window_move(&r->window, from);
	begin_at(r, from, floor);
	r->fresh = false;
	if (at == (ptrdiff_t)from)
		begin_walk(r);
	r->psbs.at_first = psb_plus_at(r, at).mode;
	ptc_replay_look_for_psb(r, at, at == (ptrdiff_t)from ? from + PTC_PSB_LEN : r->place.clean);
	r->status = sync(r, at);
	ptc_replay_look_around(r);
	r->place.prev2_off = r->place.prev_off = from;
	return r->status;
}

/* Creates a decoder for the bytes of the window. */
static int use_decoder(struct ptc_replay *r, struct ptc_err *err)
{
	const size_t room = room_of(r);
	struct pt_block_decoder *dec;
	struct pt_config config;
	int ret = ptc_ipt_decoder(r->conf.ipt, r->window.bytes - room, room + span_of(r)->len, &dec,
				  err);

	if (ret < 0)
		return ret;
	pt_blk_free_decoder(r->dec);
	r->dec = dec;
	config = ptc_ipt_config(r->conf.ipt, r->window.bytes - room, room + span_of(r)->len);
	ret = ptc_ipt_track_init(&r->track, &config, err);
	if (ret < 0)
		return ret;
	return ptc_replay_set_image(r, err);
}

static int sync_graft(struct ptc_replay *r, const struct ptc_resume *g)
{
	const ptrdiff_t at = (ptrdiff_t)g->next - (ptrdiff_t)g->graft_len;
	size_t i;

	static_assert((int)PTC_WINDOW_ROOM >= (int)PTC_GRAFT_MAX, "a graft fits in front");
	ptc_window_move(&r->window, g->off);
	for (i = 0; i < g->graft_len; i++)
		ptc_window_put(&r->window, at + (ptrdiff_t)i, g->graft[i]);
	r->place.clean = g->next;
	return sync_at(r, at, g->off, g->floor) < 0 ? 1 : 0;
}

/* Returns true if the next span begins where this span ends, cut because the buffer was full. */
static bool next_span_continues(const struct ptc_replay *r)
{
	const struct ptc_span *sp = span_of(r);

	return sp->truncated && r->span + 1 < r->conf.stream->n && !sp[1].lost &&
	       sp[1].base == sp->base + sp->len;
}

/*
 * Ends the span. Where the buffer was full it is unknown how much is missing: the gap lasts until
 * decoding goes on in the next span.
 */
static void end_span(struct ptc_replay *r)
{
	const struct ptc_span *sp = span_of(r);
	const bool stays = next_span_continues(r);
	const uint64_t time = not_before(r->time.told, r->time.now);

	ptc_branch_builder_cut(&r->trail);
	if (sp->truncated && !(r->gap.open && r->gap.cause == PTC_GAP_TRUNCATED && r->gap.rest)) {
		ptc_replay_list_gap(r, time);
		ptc_replay_begin_gap(r, PTC_GAP_TRUNCATED, sp->len);
	}
	r->gap.rest = false;
	if (!stays)
		ptc_replay_list_gap(r, time);
	r->span++;
	ptc_replay_list_marks(r, r->span < r->conf.stream->n ? sp->base + sp->len : UINT64_MAX,
			      r->time.now);
	ptc_replay_close_span(r);
	r->done = r->span == r->conf.stream->n;
}

/* The bytes ran out. An incomplete packet at the end counts as damage; PADs do not. */
static void end_of_bytes(struct ptc_replay *r)
{
	const struct ptc_span *sp = span_of(r);
	/* Some incomplete packets count as read in libipt. */
	const uint8_t *bytes = r->window.bytes;
	const bool sure = r->place.clean >= r->window.from;
	const size_t rest =
		ptc_find_rest(bytes, sure ? r->place.clean : r->window.from, sure, sp->len);
	const size_t from = rest < r->place.off ? rest : r->place.off;
	size_t at = from;

	while (at < sp->len && !bytes[at])
		at++;
	if (at < sp->len) {
		r->gap.rest = sp->truncated && !r->gap.open;
		ptc_replay_begin_gap(r, r->gap.rest ? PTC_GAP_TRUNCATED : PTC_GAP_BADPACKET, from);
		ptc_replay_end_gap(r, sp->len);
	}
	end_span(r);
}

uint64_t ptc_replay_current_ip(struct ptc_replay *r)
{
	struct pt_block b;

	(void)pt_blk_next(r->dec, &b, sizeof(b));
	return b.ip;
}

void ptc_replay_land(struct ptc_replay *r, uint64_t ip)
{
	if (r->trail.last.valid)
		ptc_replay_list_gap(r, r->trail.last.time);
	ptc_branch_builder_land(&r->trail, ip);
}

/*
 * One call of the decoder read past the end of the window, over bytes without any effect on the
 * flow. So the bytes it saw there were not the trace. Goes on at the next PSB behind the window.
 * Returns the decoder's status, or 0 at the end of the span.
 */
static int resume_behind_window(struct ptc_replay *r)
{
	struct ptc_resume to;

	ptc_replay_begin_gap(r, PTC_GAP_DESYNC, r->window.upto);
	ptc_walker_to_psb(&r->walk, r->window.upto, &to);
	ptc_replay_end_gap(r, to.off);
	if (to.how == PTC_RESUME_PSB)
		return sync_at(r, (ptrdiff_t)to.off, to.off, to.floor);
	end_span(r);
	return 0;
}

/* The decoder has failed: begins a gap at @off. */
static void begin_gap_of(struct ptc_replay *r, enum ptc_gap_cause cause, size_t off)
{
	if (!r->gap.open && cause == PTC_GAP_NOCODE && !r->before)
		r->gap.cost =
			ptc_notes_nocode(r->conf.notes, r->code.as, ptc_replay_current_ip(r),
					 (struct ptc_note_at){ known_time(r), r->conf.queue });
	ptc_replay_begin_gap(r, cause, off);
}

/* The decoder failed with @status: sets what to search for, and from where on. */
static void begin_seeking(struct ptc_replay *r, int status)
{
	const enum ptc_gap_cause cause = ptc_ipt_cause(status);
	/*
	 * The packets of the failed call are lost. So is the event, if any, that the call before it
	 * had read and that could not be reported. That event is the first possible resume point.
	 */
	const size_t floor =
		ptc_span_find(span_of(r), r->place.prev2_off, r->place.prev_off, PTC_PKT_COUNT);

	begin_gap_of(r, cause, floor);
	if (floor > r->place.floor)
		r->place.floor = floor;
	r->to_psb = r->conf.resync == PTC_RESYNC_PSB || cause == PTC_GAP_BADPACKET;
	r->seeking = true;
}

/*
 * The search came to a later time: there may be other code and another thread. Returns false if the
 * time is not usable: it is later than the time at which the trace was copied, or not later than
 * now.
 */
static bool goes_later(struct ptc_replay *r)
{
	const uint64_t reference = span_of(r)->reference;
	const uint64_t tsc = ptc_tsc_extend(ptc_walker_tsc(&r->walk), reference);
	const uint64_t now = to_ns(
		r, tsc,
		ptc_time_bound_get(&r->time.ahead, (struct ptc_spot){ r->span, r->walk.pos }));

	if (now == PTC_NO_TIME || (reference && tsc > reference) ||
	    (r->time.now != PTC_NO_TIME && now <= r->time.now))
		return false;
	r->time.now = now;
	return true;
}

/* Goes on at @to. Returns 1 if that does not work. */
static int resume(struct ptc_replay *r, const struct ptc_resume *to)
{
	r->seeking = false;
	ptc_replay_charge_gap(r, to->off);
	ptc_replay_end_gap(r, to->off);
	if (to->how == PTC_RESUME_END) {
		end_span(r);
		return 0;
	}
	if (to->how == PTC_RESUME_PSB)
		return sync_at(r, (ptrdiff_t)to->off, to->off, to->floor) < 0;
	return sync_graft(r, to);
}

/* Begins at a missed PSB, or at the rest of one. Returns 1 if that does not work. */
static int begin_at_missed(struct ptc_replay *r, size_t psb)
{
	struct ptc_resume to = { .how = PTC_RESUME_GRAFT, .off = psb, .next = psb };

	if (!r->psbs.swallowed && psb == r->psbs.off_psb)
		psb = r->psbs.idle_psb;
	if (!r->psbs.swallowed || !r->psbs.left_end)
		return sync_at(r, (ptrdiff_t)psb, psb, psb + PTC_PSB_LEN) < 0;
	ptc_walker_pass(&r->walk, psb);
	to.floor = r->psbs.left_end;
	to.graft_len = PTC_PSB_LEN;
	memcpy(to.graft, ptc_psb, PTC_PSB_LEN);
	return sync_graft(r, &to);
}

int ptc_replay_seek(struct ptc_replay *r, int status)
{
	struct ptc_resume to;
	size_t psb;
	int ret;

	for (;; status = r->status) {
		if (!r->seeking && ptc_window_passed(&r->window, r->place.off)) {
			if (resume_behind_window(r) >= 0)
				return 0;
			continue;
		}
		if (!r->seeking) {
			psb = ptc_replay_missed_psb(r);
			if (psb < SIZE_MAX) {
				begin_gap_of(r, ptc_ipt_cause(status), psb);
				ptc_replay_end_gap(r, psb);
				ret = begin_at_missed(r, psb);
				if (ret <= 0)
					return ret;
				continue;
			}
			if (pt_errcode(status) == pte_eos) {
				end_of_bytes(r);
				return 0;
			}
			begin_seeking(r, status);
		}
		if (r->to_psb)
			ptc_walker_to_psb(&r->walk, r->place.floor, &to);
		else
			ptc_walker_to_packet(&r->walk, r->place.floor, r->code.as, &to);
		if (to.how == PTC_RESUME_LATER) {
			if (goes_later(r))
				return 0;
			continue;
		}
		ret = resume(r, &to);
		if (ret <= 0)
			return ret;
	}
}

int ptc_replay_recover(struct ptc_replay *r, int status)
{
	(void)ptc_replay_tell_of_rest(r);
	ptc_branch_builder_cut(&r->trail);
	ptc_branch_builder_progress(&r->trail);
	r->idle = 0;
	r->in_block = false;
	return ptc_replay_seek(r, status);
}

/*
 * In front of a snapshot: lists the trace that was overwritten since the previous snapshot, and
 * bytes in front of the first PSB. A snapshot that does not continue the previous one is listed
 * even if no byte is known to be missing.
 */
static void list_unkept(struct ptc_replay *r, size_t first)
{
	const struct ptc_span *sp = span_of(r);
	const uint64_t to = sp->base + first;
	uint64_t from = 0;

	if (r->span)
		from = sp[-1].base + sp[-1].len;
	if (r->span || to)
		ptc_out_unkept(&r->out, from < to ? from : to, from < to ? to - from : 0,
			       r->time.now);
}

/* Packets in front of the first PSB cannot be decoded: begins a gap, except for padding. */
static void list_front(struct ptc_replay *r, size_t first)
{
	const struct ptc_span *sp = span_of(r);
	size_t at;

	at = ptc_span_skip_zeros(sp, first);
	if (at < first) {
		ptc_replay_begin_gap(r, PTC_GAP_DESYNC, 0); /* an open gap goes on */
		ptc_replay_end_gap(r, first);
	}
}

int ptc_replay_open_span(struct ptc_replay *r, struct ptc_err *err)
{
	const struct ptc_span *sp = span_of(r);
	const bool midway = (r->conf.start.off || r->conf.ahead) && r->span == r->conf.start.span;
	struct ptc_resume to;
	int ret;

	r->place.from = r->place.clean = r->place.off = r->place.prev_off = r->place.prev2_off =
		r->place.floor = 0;
	if (sp->lost && !r->conf.snapshots && !midway)
		ptc_out_gap(&r->out, PTC_GAP_LOST, sp->base - sp->lost, sp->lost, r->time.now);
	ret = ptc_window_open(&r->window, sp, true, err);
	if (ret < 0)
		return ret;
	r->window.mask.listed = r->conf.opts->events;
	init_walk(r);
	ret = use_decoder(r, err);
	if (ret < 0)
		return ret;
	if (midway) {
		ptc_walker_begin(&r->walk, r->conf.start.off);
		r->place.off = r->conf.start.off;
	}
	ptc_walker_to_psb(&r->walk, r->place.off, &to);
	if (!r->conf.snapshots && !midway)
		list_front(r, to.off);
	ret = to.how == PTC_RESUME_END ? 0 : sync_at(r, (ptrdiff_t)to.off, to.off, to.floor);
	if (r->conf.snapshots && !midway) /* with the time of the PSB: the trace begins there */
		list_unkept(r, to.off);
	if (to.how == PTC_RESUME_END)
		end_span(r);
	return ret < 0 ? ptc_replay_recover(r, r->status) : 0;
}

int ptc_replay_begin_anew(struct ptc_replay *r, size_t psb)
{
	if (sync_at(r, (ptrdiff_t)psb, psb, psb + PTC_PSB_LEN) < 0)
		return ptc_replay_recover(r, r->status);
	return 0;
}

bool ptc_replay_park(struct ptc_replay *r, size_t psb)
{
	if (!may_be_piece(r))
		return false;
	begin_at(r, psb, psb + PTC_PSB_LEN);
	begin_walk(r);
	ptc_replay_look_for_next_psb(r, psb + PTC_PSB_LEN);
	if (r->psbs.next >= span_of(r)->len)
		return false; /* libipt decodes the last segment */
	r->place.prev_off = r->place.prev2_off = psb;
	r->time.prev_now = r->time.now;
	r->status = pts_event_pending; /* the status of the PSB+ */
	ptc_replay_look_at_bound(r);
	/* Else the decoder would report another time. */
	r->parked = r->time.now == PTC_NO_TIME || r->time.now <= r->time.bound;
	return r->parked;
}
