/* SPDX-License-Identifier: MIT */
#include "decode/replay.h"

#include <stdlib.h>
#include <string.h>

#include <intel-pt.h>

#include "arch/pt_packet.h"
#include "base/err.h"
#include "decode/addrspace.h"
#include "decode/ahead.h"
#include "decode/event.h"
#include "decode/feed.h"
#include "decode/ipt.h"
#include "decode/note.h"
#include "decode/resync.h"
#include "decode/trail.h"
#include "decode/window.h"

/* Blocks without instructions, events or bytes used that libipt may give in a row. */
enum { MAX_IDLE = 16 };

/* ns; see not_before. */
static const uint64_t MAX_SLIP = 1000000000;

/* Bytes of a PSB+ that are looked at. */
enum { PSB_PLUS_MAX = 256 };

/* What libipt cannot say. */
enum { NO_EVENT = 0x7fffffff };

struct ptc_replay {
	struct ptc_replay_conf conf;
	struct ptc_out out;
	struct ptc_addrspace *as;
	struct ptc_addrspace none; /* of a process we know nothing of */
	uint64_t as_version;	   /* what dec and trail last saw */
	bool as_changed;

	size_t span; /* index of the one being decoded */
	bool done;
	bool seeking;	/* a point to go on at, from floor on: step by step, as time goes on */
	bool to_psb;	/* only a PSB will do */
	bool swallowed; /* psb was passed, as part of a packet */
	bool at_first;	/* what the PSB that it began at says is yet to be told of */
	struct pt_block_decoder *dec; /* owned; NULL between spans */
	int status;		      /* of its last call */
	unsigned int idle;

	/*
	 * Grafts are written over bytes in front of the point to go on at,
	 * which are done with: hence a map, with room in front, from the first
	 * graft of a span on at the latest.
	 */
	struct ptc_window window; /* what dec works on */
	struct ptc_walker walk;
	size_t floor; /* resuming must be at or behind this */

	/* Offsets in the span: now, before the decoder's last call, and before the one before. */
	size_t off, prev_off, prev2_off;
	size_t raw;	 /* now, as the decoder counts: in what it was given */
	size_t psb;	 /* the first PSB at or behind off, when that was looked for */
	size_t ahead_of; /* a PSB that was read, and the flow is yet to come there; or SIZE_MAX */
	size_t from;	 /* where decoding began or went on */
	size_t clean;	 /* from here on the bytes are the trace's: no graft */
	uint64_t now; /* time of the last packet used: libipt does not count what it read ahead */
	uint64_t prev_now; /* before the decoder's last call */
	uint64_t told;	   /* of the last block or event */
	uint64_t bound;	   /* it cannot be later than this */
	struct ptc_ahead ahead;

	/*
	 * What is known without asking the decoder where it is: that this many bits are left of the
	 * TNT packet in front of it, and what it uses next (feed.h); -1: nothing is known.
	 */
	int quiet;
	uint64_t tsc, tsc_bound; /* that now is made of; tsc UINT64_MAX: not known */
	bool lags; /* the time of what it has read ahead may be later than the decoder's */

	/* A gap that may yet grow: it is listed once something behind it is decoded. */
	bool gap;
	enum ptc_gap_cause gap_cause;
	uint64_t gap_off, gap_end; /* in the AUX stream */
	uint64_t gap_time;
	int32_t gap_pid, gap_tid, gap_cpu;
	struct ptc_cost *gap_cost; /* whose code was missing; NULL: nobody's */
	bool rest;		   /* it is of the packet cut off at the end of a truncated span */

	size_t next_mark;
	struct ptc_trail trail;
};

static const struct ptc_span *span_of(const struct ptc_replay *r)
{
	return &r->conf.stream->spans[r->span];
}

static void skip_to_start(struct ptc_replay *r)
{
	const struct ptc_spot *start = &r->conf.start;

	if (ptc_spot_is_begin(*start))
		return;
	r->span = start->span;
	while (r->next_mark < r->conf.nmarks &&
	       r->conf.marks[r->next_mark].off <= span_of(r)->base + start->off)
		r->next_mark++;
}

int ptc_replay_new(const struct ptc_replay_conf *conf, struct ptc_replay **ret, struct ptc_err *err)
{
	struct ptc_replay *r = calloc(1, sizeof(*r));

	if (!r)
		return ptc_fail_mem(err);
	r->conf = *conf;
	r->now = r->prev_now = r->told = PTC_NO_TIME;
	r->bound = UINT64_MAX;
	ptc_ahead_init(&r->ahead, conf->stream, &r->conf.clock);
	ptc_out_init(&r->out, conf->queue, conf->opts, conf->stats);
	ptc_trail_init(&r->trail, &r->out, conf->opts);
	r->as = &r->none;
	skip_to_start(r);
	ptc_trail_set_code(&r->trail, r->as);
	r->as_changed = true;
	*ret = r;
	return 0;
}

static void close_span(struct ptc_replay *r)
{
	pt_blk_free_decoder(r->dec);
	r->dec = NULL;
	ptc_window_release(&r->window);
	r->status = 0;
}

void ptc_replay_free(struct ptc_replay *r)
{
	if (!r)
		return;
	close_span(r);
	ptc_trail_release(&r->trail);
	ptc_out_release(&r->out);
	ptc_addrspace_release(&r->none);
	free(r);
}

void ptc_replay_set_context(struct ptc_replay *r, int32_t pid, int32_t tid, int32_t cpu,
			    struct ptc_addrspace *as)
{
	r->out.pid = pid;
	r->out.tid = tid;
	r->out.cpu = cpu;
	if (!as)
		as = &r->none;
	if (as != r->as) {
		r->as = as;
		r->as_changed = true;
	}
}

struct ptc_out *ptc_replay_out(struct ptc_replay *r)
{
	return &r->out;
}

struct ptc_spot ptc_replay_spot(const struct ptc_replay *r)
{
	return (struct ptc_spot){ r->span, r->off };
}

uint64_t ptc_replay_time(const struct ptc_replay *r)
{
	return r->now == PTC_NO_TIME ? 0 : r->now;
}

uint64_t ptc_replay_low(const struct ptc_replay *r)
{
	const uint64_t t = ptc_replay_time(r);

	if (r->trail.last.valid && r->trail.last.time < t)
		return r->trail.last.time;
	return r->gap && r->gap_time < t ? r->gap_time : t;
}

void ptc_replay_lost(struct ptc_replay *r, uint64_t time)
{
	const uint64_t low = ptc_replay_low(r);
	const uint64_t off = r->span < r->conf.stream->n ? span_of(r)->base + r->off : 0;

	if (!r->done && r->now != PTC_NO_TIME && low < time)
		time = low;
	ptc_out_lost(&r->out, off, time);
}

static uint64_t to_ns(const struct ptc_replay *r, uint64_t tsc, uint64_t bound)
{
	const uint64_t ns = ptc_tsc_clock_ns(&r->conf.clock, tsc, span_of(r)->reference);

	return ns > bound && ns != PTC_NO_TIME ? bound : ns;
}

/* Bytes in front of the span's first one that the decoder has, too. */
static size_t room_of(const struct ptc_replay *r)
{
	return r->window.map ? PTC_WINDOW_ROOM : 0;
}

/* Where the decoder is, as an offset in the span; r->raw follows. */
static size_t position(struct ptc_replay *r)
{
	const size_t len = span_of(r)->len, room = room_of(r);
	uint64_t at;

	if (pt_blk_get_offset(r->dec, &at) < 0)
		return r->from;
	r->raw = (size_t)at;
	if (at < room + r->from)
		return r->from;
	return at - room < len ? (size_t)(at - room) : len;
}

/*
 * @time, but not before @last. Between two TSC packets time is estimated, and behind a graft it is
 * that of the last one: it may go back a little, and stands still instead. Much is no estimate: one
 * of the two is wrong, and who knows which.
 */
static uint64_t not_before(uint64_t last, uint64_t time)
{
	return last != PTC_NO_TIME && time < last && last - time < MAX_SLIP ? last : time;
}

/* At or behind @from there are the trace's bytes in the window. */
static size_t first_sure(const struct ptc_replay *r, size_t from)
{
	if (from < r->clean)
		from = r->clean;
	return from < r->window.from ? r->window.from : from;
}

/* The decoder passed a PSB: was it one for it? */
static void check_psb(struct ptc_replay *r)
{
	const size_t from = first_sure(r, r->prev_off);
	bool ip;

	while (r->psb < r->off) {
		if (r->psb >= from && !ptc_psb_is_packet(r->window.bytes, from, r->psb, r->off)) {
			r->swallowed = true;
			return;
		}
		if (r->psb >= from &&
		    ptc_psb_tells_mode(r->window.bytes + r->psb, r->off - r->psb, &ip) && ip)
			r->ahead_of = r->psb;
		r->psb = ptc_span_next_psb(span_of(r), r->psb + PTC_PSB_LEN);
	}
}

static void look_at_bound(struct ptc_replay *r)
{
	if (r->conf.clock.valid)
		r->bound = ptc_ahead_bound(&r->ahead, (struct ptc_spot){ r->span, r->prev_off });
}

static void look_at_time(struct ptc_replay *r)
{
	uint64_t tsc;

	if (!r->conf.clock.valid || pt_blk_time(r->dec, &tsc, NULL, NULL) < 0)
		return;
	if (tsc == r->tsc && r->bound == r->tsc_bound)
		return;
	r->tsc = tsc;
	r->tsc_bound = r->bound;
	r->now = not_before(r->now, to_ns(r, tsc, r->bound));
}

/* After each call of the decoder. */
static void look_around(struct ptc_replay *r)
{
	r->prev2_off = r->prev_off;
	r->prev_off = r->off;
	r->off = position(r);
	r->prev_now = r->now;
	if (r->off > r->psb)
		check_psb(r);
	r->quiet = -1;
	r->lags = true;
	r->tsc = UINT64_MAX;
	look_at_bound(r);
	look_at_time(r);
}

static void list_gap(struct ptc_replay *r)
{
	const int32_t pid = r->out.pid, tid = r->out.tid, cpu = r->out.cpu;

	if (!r->gap)
		return;
	r->gap = false;
	r->gap_cost = NULL;
	/* It is of who ran when it began. */
	r->out.pid = r->gap_pid;
	r->out.tid = r->gap_tid;
	r->out.cpu = r->gap_cpu;
	ptc_out_gap(&r->out, r->gap_cause, r->gap_off, r->gap_end - r->gap_off, r->gap_time);
	r->out.pid = pid;
	r->out.tid = tid;
	r->out.cpu = cpu;
}

static void list_marks(struct ptc_replay *r, uint64_t upto, uint64_t time)
{
	for (; r->next_mark < r->conf.nmarks && r->conf.marks[r->next_mark].off <= upto;
	     r->next_mark++) {
		list_gap(r);
		ptc_out_gap(&r->out, r->conf.marks[r->next_mark].cause,
			    r->conf.marks[r->next_mark].off, r->conf.marks[r->next_mark].len,
			    not_before(r->told, time));
	}
}

/* From @off of the span. */
static void begin_gap(struct ptc_replay *r, enum ptc_gap_cause cause, size_t off)
{
	if (r->gap)
		return;
	r->gap = true;
	r->gap_cause = cause;
	r->gap_off = span_of(r)->base + off;
	r->gap_end = r->gap_off;
	r->gap_time = r->now;
	r->gap_pid = r->out.pid;
	r->gap_tid = r->out.tid;
	r->gap_cpu = r->out.cpu;
}

/* It lasts at least to @off of the span. */
static void end_gap(struct ptc_replay *r, size_t off)
{
	r->gap_end = span_of(r)->base + off;
}

/* The gap is to last to @off of the span: what of the trace that costs. */
static void charge(struct ptc_replay *r, size_t off)
{
	const struct ptc_span *sp = span_of(r);
	const size_t from = r->gap_end > sp->base ? (size_t)(r->gap_end - sp->base) : 0;
	uint8_t *copy;

	if (!r->gap_cost || from >= off)
		return;
	if (sp->bytes) {
		ptc_cost_add(r->gap_cost, sp->bytes + from, off - from);
		return;
	}
	copy = malloc(off - from);
	if (!copy)
		return;
	ptc_span_read(sp, from, copy, off - from);
	ptc_cost_add(r->gap_cost, copy, off - from);
	free(copy);
}

/* What was read behind the window cannot be helped any more: see recover. */
static void move_window(struct ptc_replay *r)
{
	if (ptc_window_is_stale(&r->window, r->off) && !ptc_window_passed(&r->window, r->off))
		ptc_window_move(&r->window, r->off);
}

/* Start the decoder at @at of the span; @from and @floor are what counts as read. */
static int sync_at(struct ptc_replay *r, ptrdiff_t at, size_t from, size_t floor)
{
	const size_t len = (size_t)((ptrdiff_t)span_of(r)->len - at);
	bool ip;

	ptc_window_move(&r->window, from);
	r->from = r->off = from;
	r->floor = floor;
	if (at == (ptrdiff_t)from)
		r->clean = from;
	r->swallowed = false;
	r->ahead_of = SIZE_MAX;
	r->at_first = ptc_psb_tells_mode(r->window.bytes + at,
					 len < PSB_PLUS_MAX ? len : PSB_PLUS_MAX, &ip);
	r->psb = ptc_span_next_psb(span_of(r),
				   at == (ptrdiff_t)from ? from + PTC_PSB_LEN : r->clean);
	r->status = pt_blk_sync_set(r->dec, (uint64_t)((ptrdiff_t)room_of(r) + at));
	look_around(r);
	r->prev2_off = r->prev_off = from;
	return r->status;
}

/* A decoder for what the window has. */
static int use_decoder(struct ptc_replay *r, struct ptc_err *err)
{
	const size_t room = room_of(r);
	struct pt_block_decoder *dec;
	struct pt_image *image;
	int ret = ptc_ipt_decoder(r->conf.ipt, r->window.bytes - room, room + span_of(r)->len, &dec,
				  err);

	if (ret < 0)
		return ret;
	ret = ptc_ipt_image(r->conf.ipt, r->as, &image, err);
	if (ret < 0) {
		pt_blk_free_decoder(dec);
		return ret;
	}
	(void)pt_blk_set_image(dec, image);
	pt_blk_free_decoder(r->dec);
	r->dec = dec;
	return 0;
}

static int sync_graft(struct ptc_replay *r, const struct ptc_resume *g, struct ptc_err *err)
{
	const ptrdiff_t at = (ptrdiff_t)g->next - (ptrdiff_t)g->graft_len;
	size_t i;
	int ret;

	static_assert((int)PTC_WINDOW_ROOM >= (int)PTC_GRAFT_MAX, "a graft fits in front");
	if (!r->window.map) {
		ret = ptc_window_open(&r->window, span_of(r), true, err);
		if (!ret)
			ret = use_decoder(r, err);
		if (ret < 0)
			return ret;
	}
	ptc_window_move(&r->window, g->off);
	for (i = 0; i < g->graft_len; i++)
		ptc_window_put(&r->window, at + (ptrdiff_t)i, g->graft[i]);
	r->clean = g->next;
	return sync_at(r, at, g->off, g->floor) < 0 ? 1 : 0;
}

/* Does the next span begin where this one, cut where the buffer was full, ends? */
static bool goes_on(const struct ptc_replay *r)
{
	const struct ptc_span *sp = span_of(r);

	return sp->truncated && r->span + 1 < r->conf.stream->n && !sp[1].lost &&
	       sp[1].base == sp->base + sp->len;
}

/*
 * Where the buffer was full nobody knows what is missing: the gap there lasts
 * until decoding goes on in the next span.
 */
static void end_span(struct ptc_replay *r)
{
	const struct ptc_span *sp = span_of(r);
	const bool stays = goes_on(r);

	ptc_trail_cut(&r->trail);
	if (sp->truncated && !(r->gap && r->gap_cause == PTC_GAP_TRUNCATED && r->rest)) {
		list_gap(r);
		begin_gap(r, PTC_GAP_TRUNCATED, sp->len);
	}
	r->rest = false;
	if (!stays)
		list_gap(r);
	r->span++;
	list_marks(r, r->span < r->conf.stream->n ? sp->base + sp->len : UINT64_MAX, r->now);
	close_span(r);
	r->done = r->span == r->conf.stream->n;
}

/* The bytes ran out. A rest that is no whole packet is damage too; PADs are not. */
static void end_of_bytes(struct ptc_replay *r)
{
	const struct ptc_span *sp = span_of(r);
	/* libipt says of some packets that it got behind them, though they are not whole. */
	const uint8_t *bytes = r->window.bytes;
	const bool sure = r->clean >= r->window.from;
	const size_t rest = ptc_find_rest(bytes, sure ? r->clean : r->window.from, sure, sp->len);
	const size_t from = rest < r->off ? rest : r->off;
	size_t at = from;

	while (at < sp->len && !bytes[at])
		at++;
	if (at < sp->len) {
		r->rest = sp->truncated && !r->gap;
		begin_gap(r, r->rest ? PTC_GAP_TRUNCATED : PTC_GAP_BADPACKET, from);
		end_gap(r, sp->len);
	}
	end_span(r);
}

/* Where the decoder stands: a block begins there, even one that fails. Only after an error. */
static uint64_t current_ip(struct ptc_replay *r)
{
	struct pt_block b;

	(void)pt_blk_next(r->dec, &b, sizeof(b));
	return b.ip;
}

/* The decoder had taken the last instruction to @ip when it failed. */
static void land(struct ptc_replay *r, uint64_t ip)
{
	if (!r->trail.last.valid)
		return;
	list_gap(r);
	ptc_trail_land(&r->trail, ip);
}

/*
 * One call of the decoder read on, over bytes that say nothing of the flow, to
 * behind the window: what it saw there was not the trace. Go on at the next PSB
 * of what it was. Returns the decoder's status, or 0 at the end of the span.
 */
static int resume_behind_window(struct ptc_replay *r)
{
	struct ptc_resume to;

	begin_gap(r, PTC_GAP_DESYNC, r->window.upto);
	ptc_walker_to_psb(&r->walk, r->window.upto, &to);
	end_gap(r, to.off);
	if (to.how == PTC_RESUME_PSB)
		return sync_at(r, (ptrdiff_t)to.off, to.off, to.floor);
	end_span(r);
	return 0;
}

/* The decoder failed with @status: what to look for, and from where on. */
static void begin_seeking(struct ptc_replay *r, int status)
{
	const enum ptc_gap_cause cause = ptc_ipt_cause(status);
	/*
	 * What the failed call took was for nothing, and so was the event, if
	 * any, that the call before it had read and nobody could be told of: it
	 * is the first point to go on at.
	 */
	const size_t floor = ptc_span_find(span_of(r), r->prev2_off, r->prev_off, PTC_PKT_COUNT);

	if (!r->gap && cause == PTC_GAP_NOCODE)
		r->gap_cost = ptc_notes_nocode(r->conf.notes, r->as, current_ip(r));
	begin_gap(r, cause, floor);
	if (floor > r->floor)
		r->floor = floor;
	r->to_psb = r->conf.resync == PTC_RESYNC_PSB || cause == PTC_GAP_BADPACKET;
	r->seeking = true;
}

/*
 * The search has come to a later time: then other code may be there, and another thread. Not if
 * the trace was copied before: that is no time of it.
 */
static bool goes_later(struct ptc_replay *r)
{
	const uint64_t reference = span_of(r)->reference;
	const uint64_t tsc = ptc_tsc_extend(ptc_walker_tsc(&r->walk), reference);
	const uint64_t now = to_ns(
		r, tsc, ptc_ahead_bound(&r->ahead, (struct ptc_spot){ r->span, r->walk.pos }));

	if (now == PTC_NO_TIME || (reference && tsc > reference) ||
	    (r->now != PTC_NO_TIME && now <= r->now))
		return false;
	r->now = now;
	return true;
}

/* Go on at @to. Returns 1 if that does not work. */
static int resume(struct ptc_replay *r, const struct ptc_resume *to, struct ptc_err *err)
{
	r->seeking = false;
	charge(r, to->off);
	end_gap(r, to->off);
	if (to->how == PTC_RESUME_END) {
		end_span(r);
		return 0;
	}
	if (to->how == PTC_RESUME_PSB)
		return sync_at(r, (ptrdiff_t)to->off, to->off, to->floor) < 0;
	return sync_graft(r, to, err);
}

/*
 * A PSB that the decoder has passed without coming to where that says the flow is: what it followed
 * was not the trace's, no one knows since when. SIZE_MAX: there is none.
 */
static size_t missed_psb(const struct ptc_replay *r)
{
	const size_t psb = r->swallowed ? r->psb : r->ahead_of;

	return psb >= r->floor ? psb : SIZE_MAX;
}

/*
 * The decoder failed with @status. Find where to go on, until it works or the
 * span ends; each round starts further on. It may take several steps.
 */
static int seek(struct ptc_replay *r, int status, struct ptc_err *err)
{
	struct ptc_resume to;
	size_t psb;
	int ret;

	for (;; status = r->status) {
		if (!r->seeking && ptc_window_passed(&r->window, r->off)) {
			if (resume_behind_window(r) >= 0)
				return 0;
			continue;
		}
		if (!r->seeking) {
			psb = missed_psb(r);
			if (psb < SIZE_MAX) {
				begin_gap(r, ptc_ipt_cause(status), psb);
				end_gap(r, psb);
				if (sync_at(r, (ptrdiff_t)psb, psb, psb + PTC_PSB_LEN) >= 0)
					return 0;
				continue;
			}
			if (pt_errcode(status) == pte_eos) {
				end_of_bytes(r);
				return 0;
			}
			begin_seeking(r, status);
		}
		if (r->to_psb)
			ptc_walker_to_psb(&r->walk, r->floor, &to);
		else
			ptc_walker_to_packet(&r->walk, r->floor, r->as, &to);
		if (to.how == PTC_RESUME_LATER) {
			if (goes_later(r))
				return 0;
			continue;
		}
		ret = resume(r, &to, err);
		if (ret <= 0)
			return ret;
	}
}

static int recover(struct ptc_replay *r, int status, struct ptc_err *err)
{
	ptc_trail_cut(&r->trail);
	ptc_trail_progress(&r->trail);
	r->idle = 0;
	return seek(r, status, err);
}

/*
 * In front of a snapshot: what was overwritten since the one before it, and what has no PSB yet. A
 * snapshot that does not go on from the last one is told of, also if no byte is known to be
 * missing.
 */
static void list_unkept(struct ptc_replay *r, size_t first)
{
	const struct ptc_span *sp = span_of(r);
	const uint64_t to = sp->base + first;
	uint64_t from = 0;

	if (r->span)
		from = sp[-1].base + sp[-1].len;
	if (r->span || to)
		ptc_out_unkept(&r->out, from < to ? from : to, from < to ? to - from : 0, r->now);
}

/* Packets in front of the first PSB cannot be decoded: a gap, unless they are padding. */
static void list_front(struct ptc_replay *r, size_t first)
{
	const struct ptc_span *sp = span_of(r);
	size_t at;

	at = ptc_span_skip_zeros(sp, first);
	if (at < first) {
		begin_gap(r, PTC_GAP_DESYNC, 0); /* unless one goes on from the span before */
		end_gap(r, first);
	}
}

/* Begin the next span at its first PSB, or where it is to begin. */
static int open_span(struct ptc_replay *r, struct ptc_err *err)
{
	const struct ptc_span *sp = span_of(r);
	const bool midway = r->conf.start.off && r->span == r->conf.start.span;
	struct ptc_resume to;
	int ret;

	r->from = r->clean = r->off = r->prev_off = r->prev2_off = r->floor = 0;
	if (sp->lost && !r->conf.snapshots && !midway)
		ptc_out_gap(&r->out, PTC_GAP_LOST, sp->base - sp->lost, sp->lost, r->now);
	ret = ptc_window_open(&r->window, sp, false, err);
	if (ret < 0)
		return ret;
	ptc_walker_init(&r->walk, r->window.bytes, sp->len);
	if (r->window.map)
		ptc_walker_init_window(&r->walk, &r->window);
	ret = use_decoder(r, err);
	if (ret < 0)
		return ret;
	if (midway) {
		ptc_walker_begin(&r->walk, r->conf.start.off);
		r->off = r->conf.start.off;
	}
	ptc_walker_to_psb(&r->walk, r->off, &to);
	if (!r->conf.snapshots && !midway)
		list_front(r, to.off);
	ret = to.how == PTC_RESUME_END ? 0 : sync_at(r, (ptrdiff_t)to.off, to.off, to.floor);
	if (r->conf.snapshots &&
	    !midway) /* at the time of the PSB: from there on the queue has its trace */
		list_unkept(r, to.off);
	if (to.how == PTC_RESUME_END)
		end_span(r);
	return ret < 0 ? recover(r, r->status, err) : 0;
}

static enum ptc_mode mode_of(enum pt_exec_mode mode)
{
	return mode == ptem_32bit ? PTC_MODE_32 : mode == ptem_16bit ? PTC_MODE_16 : PTC_MODE_64;
}

/*
 * A block has used the packet that came next; now the decoder is @n bytes further on. @empty: it
 * had no bits before. It takes a TIP packet though it has some, where the trace is damaged.
 */
static void note_packet(struct ptc_replay *r, struct ptc_feed *f, size_t n, bool empty)
{
	size_t len = 0;
	int bits = -1;

	if (ptc_feed_has_tnt(f)) {
		len = ptc_feed_tnt_len(f);
		bits = ptc_pkt_tnt_bits(f->next) - 1;
	} else if (ptc_feed_has_tip(f)) {
		len = ptc_pkt_ip_len(f->next[0]);
		bits = empty ? 0 : -1;
	}
	/* Nothing behind it, nor behind the one before it: the time is what it was. */
	if (n != len || r->lags)
		look_at_time(r);
	r->lags = f->late = n != len;
	ptc_feed_go_on(f, f->next + n, bits);
}

/* Where in the span a step may go on to before somebody else must have a look. */
static size_t next_stop(const struct ptc_replay *r)
{
	if (r->next_mark == r->conf.nmarks)
		return SIZE_MAX;
	return (size_t)(r->conf.marks[r->next_mark].off - span_of(r)->base);
}

static const uint8_t *place_of(const struct ptc_replay *r, size_t raw)
{
	return r->window.bytes - room_of(r) + raw;
}

/* From where on the decoder must be asked where it is. */
static const uint8_t *feed_limit(const struct ptc_replay *r)
{
	const size_t len = span_of(r)->len;
	size_t at = len < PTC_FEED_MARGIN ? 0 : len - PTC_FEED_MARGIN;

	if (at > r->psb)
		at = r->psb;
	if (at > r->window.near)
		at = r->window.near;
	if (at > next_stop(r))
		at = next_stop(r);
	if (r->conf.clock.valid)
		at = ptc_ahead_limit(&r->ahead, r->span, at);
	return r->window.bytes + at;
}

/*
 * look_around after a block that may have used trace, but had no event and no error. r->off and
 * r->prev_off are those in front of it. @empty: it had no bits of a TNT packet before.
 */
static struct ptc_feed look_ahead(struct ptc_replay *r, bool empty)
{
	const size_t raw = r->raw;
	struct ptc_feed f = { .bits = -1, .next = place_of(r, raw), .late = true };
	const uint64_t bound = r->bound;

	r->prev2_off = r->prev_off;
	r->prev_off = r->off;
	r->off = position(r);
	if (r->off > r->psb)
		check_psb(r);
	look_at_bound(r);
	if (r->bound != bound)
		r->lags = true;
	f.limit = feed_limit(r);
	if (r->raw > raw)
		note_packet(r, &f, r->raw - raw, empty);
	else if (r->lags)
		look_at_time(r);
	/* In a graft it is not where we say it is. */
	if (f.next != r->window.bytes + r->off)
		ptc_feed_ask(&f);
	return f;
}

enum left {
	LEFT_NOTHING, /* to be done */
	LEFT_BLOCK,   /* that was not looked at */
	LEFT_ENDLESS, /* ptc_trail_block said no */
};

enum { ROW = 128 };

/* What changes from block to block in a row. */
struct row {
	struct ptc_trail_step steps[ROW];
	size_t n;
	uint64_t insns;
	struct ptc_feed feed;
	/* Where the decoder is, was before its last call, and before the one before. */
	const uint8_t *now, *prev, *prev2;
	bool progress; /* to be told of to the trail */
	enum left left;
};

/* What @b took of the trace, as far as it is known without asking. */
static inline void take_trace(struct row *row, struct ptc_trail *t, const struct pt_block *b)
{
	struct ptc_feed *f = &row->feed;
	uint8_t kind;

	if (b->iclass == ptic_cond_jump || b->iclass == ptic_return) {
		row->progress = true;
		if (ptc_feed_is_known(f))
			ptc_feed_take_bit(f);
		return;
	}
	kind = ptc_kinds_at(&t->kinds, b->end_ip, PTC_MODE_64).kind;
	if (row->progress)
		ptc_trail_progress(t);
	row->progress = ptc_trail_needs_trace(kind);
	if (!row->progress && ptc_trail_is_endless(t, b->ip))
		row->left = LEFT_ENDLESS;
	if (kind == PTC_KIND_JMP || kind == PTC_KIND_CALL)
		return;
	/* Where there is none for Zydis, libipt may know better, and have used trace. */
	if ((kind == PTC_KIND_IJMP || kind == PTC_KIND_ICALL) && ptc_feed_is_known(f))
		ptc_feed_take_ip(f);
	else
		ptc_feed_ask(f);
}
/* The replay's own idea of where the decoder is, from the row's. */
static void settle_place(struct ptc_replay *r, const struct row *row)
{
	const uint8_t *bytes = r->window.bytes;
	const size_t off = (size_t)(row->now - bytes);

	r->raw += off - r->off;
	r->off = off;
	r->prev_off = (size_t)(row->prev - bytes);
	r->prev2_off = (size_t)(row->prev2 - bytes);
}

/* The decoder was called, and is at @now. */
static inline void move_on(struct row *row, const uint8_t *now)
{
	row->prev2 = row->prev;
	row->prev = row->now;
	row->now = now;
}

/* Nobody knows where the decoder is now. @empty as above. True: the row is over. */
static bool ask(struct ptc_replay *r, struct row *row, bool empty)
{
	const uint64_t time = r->now;
	const size_t stop = next_stop(r);

	settle_place(r, row);
	row->feed = look_ahead(r, empty);
	move_on(row, r->window.bytes + r->off);
	return r->now != time || r->off >= stop || r->swallowed ||
	       ptc_window_is_stale(&r->window, r->off);
}

/* Blocks for one row, at most @max. False: that was all of them for now. */
static bool fill_row(struct ptc_replay *r, struct row *row, size_t max, struct pt_block *b)
{
	bool over = false, empty;

	for (row->n = 0; row->n < max && !over && row->left == LEFT_NOTHING;) {
		r->status = pt_blk_next(r->dec, b, sizeof(*b));
		if (r->status || !b->ninsn || b->mode != ptem_64bit) {
			row->left = LEFT_BLOCK;
			break;
		}
		row->steps[row->n++] = (struct ptc_trail_step){ b->ip, b->end_ip };
		row->insns += b->ninsn;
		empty = !row->feed.bits;
		take_trace(row, &r->trail, b);
		if (ptc_feed_is_known(&row->feed))
			move_on(row, row->feed.next);
		else
			over = ask(r, row, empty);
	}
	return !over && row->left == LEFT_NOTHING;
}

static void begin_row(const struct ptc_replay *r, struct row *row)
{
	row->feed = (struct ptc_feed){ .next = r->window.bytes + r->off,
				       .limit = feed_limit(r),
				       .bits = r->quiet,
				       .late = r->lags };
	row->now = row->feed.next;
	row->prev = r->window.bytes + r->prev_off;
	row->prev2 = r->window.bytes + r->prev2_off;
	row->insns = 0;
	row->progress = false;
	row->left = LEFT_NOTHING;
}

static void end_row(struct ptc_replay *r, const struct row *row, uint64_t time)
{
	settle_place(r, row);
	r->quiet = row->feed.bits;
	r->prev_now = time;
	if (!row->insns)
		return;
	r->told = time;
	if (row->progress)
		ptc_trail_progress(&r->trail);
	r->out.stats->insns += row->insns;
	r->idle = 0;
}

/*
 * libipt reads ahead, and when that fails it says so at once: of the branch that it was asked for,
 * although it may know where that one led, or have the bits of it and of more. It tells when it is
 * asked again. True: decoding goes on.
 */
static bool has_more(struct ptc_replay *r)
{
	struct pt_block b;
	int status;

	if (!r->trail.last.valid)
		return false;
	status = pt_blk_next(r->dec, &b, sizeof(b));
	if (b.ip != r->trail.last.ip) {
		land(r, b.ip);
		return false;
	}
	/* The same branch once more: if it worked, with a bit. */
	if (status < 0 || b.ninsn != 1)
		return false;
	r->status = status;
	(void)position(r);
	return true;
}

/*
 * Blocks in rows, until one is not as most are, the time changes, or there are @max items; of
 * the pending instruction's time.
 */
static enum left run_blocks(struct ptc_replay *r, size_t max, struct pt_block *b)
{
	struct ptc_out *o = &r->out;
	const uint64_t time = r->now;
	struct ptc_item *it = o->items + o->n, *end = o->items + o->head + max;
	struct row row;
	bool goes_on;

	begin_row(r, &row);
	do {
		goes_on = fill_row(r, &row, (size_t)(end - it) < ROW ? (size_t)(end - it) : ROW, b);
		it = ptc_trail_row(&r->trail, row.steps, row.n, it);
	} while (goes_on && it < end);
	end_row(r, &row, time);
	o->stats->branches += (size_t)(it - o->items) - o->n;
	o->n = (size_t)(it - o->items);
	if (row.left == LEFT_BLOCK)
		look_around(r);
	return row.left;
}

/* The same, or one block, always asking the decoder where it is. */
static enum left next_blocks(struct ptc_replay *r, size_t max, struct pt_block *b)
{
	if (max && ptc_trail_is_quick(&r->trail, r->now) && !r->gap &&
	    ptc_out_reserve(&r->out, max))
		return run_blocks(r, max, b);
	r->status = pt_blk_next(r->dec, b, sizeof(*b));
	look_around(r);
	return LEFT_BLOCK;
}

static int step_block(struct ptc_replay *r, size_t max, struct ptc_err *err)
{
	struct ptc_trail_block fb;
	struct pt_block b;
	const uint64_t time = r->now;
	enum left left;
	bool goes_on;

	move_window(r);
	left = next_blocks(r, max, &b);
	goes_on = left != LEFT_ENDLESS;
	/* Also when it failed: what it had decoded until then did run. */
	if (left == LEFT_BLOCK && b.ninsn) {
		list_gap(r);
		r->told = time;
		fb = (struct ptc_trail_block){ .ip = b.ip,
					       .end_ip = b.end_ip,
					       .ninsn = b.ninsn,
					       .mode = mode_of(b.mode),
					       .time = time,
					       /* libipt goes on from a jump to a PTWRITE. */
					       .bent = r->status & pts_event_pending };
		goes_on = ptc_trail_block(&r->trail, &fb);
		r->idle = 0;
	} else if (left == LEFT_BLOCK && r->status >= 0 && !(r->status & pts_event_pending) &&
		   r->off == r->prev_off) {
		goes_on = ++r->idle < MAX_IDLE;
	}
	/* A block that cannot even begin still says where the last one led. */
	if (r->status < 0 && !b.ninsn)
		land(r, b.ip);
	if (r->status < 0 && b.ninsn && has_more(r))
		return 0;
	if (r->status < 0)
		return recover(r, r->status, err);
	if (!goes_on)
		return recover(r, r->status & pts_eos ? -pte_eos : -pte_bad_query, err);
	return 0;
}

static void list_overflow(struct ptc_replay *r, size_t from, size_t to, uint64_t time)
{
	const struct ptc_span *sp = span_of(r);
	const size_t at = ptc_span_find(sp, from, to, PTC_PKT_OVF);

	ptc_trail_cut(&r->trail);
	ptc_out_gap(&r->out, PTC_GAP_OVERFLOW, sp->base + (at < to ? at : from), 0, time);
}

/* For those who asked for it; a start is behind its event. */
static void list_event(struct ptc_replay *r, const struct pt_event *ev, uint64_t time)
{
	struct ptc_pt_event e = ptc_pt_event_of(ev);

	if (!r->conf.opts->events || e.kind == PTC_EVENT_NONE)
		return;
	e.time = time;
	list_gap(r);
	ptc_trail_event(&r->trail, &e);
}

/* It was read between @from and @to. */
static void take_event(struct ptc_replay *r, const struct pt_event *ev, size_t from, size_t to,
		       uint64_t bound)
{
	const uint64_t time = not_before(r->told, ev->has_tsc ? to_ns(r, ev->tsc, bound) : r->now);

	r->told = time;
	ptc_trail_progress(&r->trail);
	r->idle = 0;
	if (ev->status_update)
		return;
	switch (ev->type) {
	case ptev_enabled:
		list_event(r, ev, time);
		list_gap(r);
		ptc_trail_start(&r->trail, ev->variant.enabled.ip, time);
		break;
	case ptev_disabled:
		list_gap(r);
		ptc_trail_exit(&r->trail, time);
		break;
	case ptev_async_disabled:
		list_gap(r);
		ptc_trail_async(&r->trail, ev->variant.async_disabled.at, 0, time);
		break;
	case ptev_async_branch:
		list_gap(r);
		ptc_trail_async(&r->trail, ev->variant.async_branch.from,
				ev->variant.async_branch.to, time);
		break;
	case ptev_overflow:
		list_gap(r);
		list_overflow(r, from, to, time);
		break;
	default:
		break;
	}
	if (ev->type != ptev_enabled)
		list_event(r, ev, time);
}

/*
 * A PSB+ says where the flow is, or that tracing is off, and the decoder is to come to the same.
 * libipt takes packets from behind the PSB if it needs them to come there; then what it followed
 * was not the trace's flow. @off: tracing was off; @to is where it got. The PSB, or SIZE_MAX: all
 * is well.
 */
static size_t strayed_from(const struct ptc_replay *r, const struct pt_event *ev, bool off,
			   size_t to)
{
	if (!ev->status_update || ev->type != ptev_exec_mode)
		return SIZE_MAX;
	return ptc_psb_left_behind(r->window.bytes, first_sure(r, r->from), to,
				   ev->ip_suppressed == off);
}

/* The decoder came to where a PSB+ says that the flow is: the one that it began at, or another. */
static void forget_psb(struct ptc_replay *r)
{
	if (!r->at_first)
		r->ahead_of = SIZE_MAX;
	r->at_first = false;
}

static int step_event(struct ptc_replay *r, struct ptc_err *err)
{
	/* It was read by the call before this one. */
	const size_t from = r->prev_off, to = r->off;
	const uint64_t bound = r->bound;
	struct pt_event ev = { .type = (enum pt_event_type)NO_EVENT };
	const bool off = r->status & pts_ip_suppressed;
	size_t psb;

	move_window(r);
	r->status = pt_blk_event(r->dec, &ev, sizeof(ev));
	look_around(r);
	/* What failed may be no more than looking for the next one. */
	if (r->status < 0 && (int)ev.type == NO_EVENT) {
		land(r, current_ip(r));
		return recover(r, r->status, err);
	}
	psb = strayed_from(r, &ev, off, to);
	if (psb < SIZE_MAX && psb >= r->floor) {
		r->ahead_of = psb;
		return recover(r, -pte_bad_query, err);
	}
	if (ev.status_update && ev.type == ptev_exec_mode)
		forget_psb(r);
	take_event(r, &ev, from, to, bound);
	if (r->status >= 0)
		return 0;
	r->prev2_off = r->prev_off; /* that one is told of */
	return recover(r, r->status, err);
}

static int use_code(struct ptc_replay *r, struct ptc_err *err)
{
	struct pt_image *image;
	int ret;

	if (!r->as_changed && r->as_version == ptc_addrspace_version(r->as))
		return 0;
	ret = ptc_ipt_image(r->conf.ipt, r->as, &image, err);
	if (ret < 0)
		return ret;
	if (r->dec)
		(void)pt_blk_set_image(r->dec, image);
	ptc_trail_set_code(&r->trail, r->as);
	r->as_version = ptc_addrspace_version(r->as);
	r->as_changed = false;
	return 0;
}

/*
 * While time stands still nobody has anything to do between two blocks. Not while the pending
 * instruction is of an earlier time: it may be the last one that is wanted.
 */
static size_t items_in_a_row(const struct ptc_replay *r, size_t max)
{
	return ptc_replay_low(r) == ptc_replay_time(r) ? max : 0;
}

int ptc_replay_step(struct ptc_replay *r, struct ptc_err *err)
{
	return ptc_replay_steps(r, 0, err);
}

int ptc_replay_steps(struct ptc_replay *r, size_t max, struct ptc_err *err)
{
	int ret;

	if (r->done || r->span >= r->conf.stream->n)
		return 0;
	ret = use_code(r, err);
	if (ret < 0)
		return ret;
	if (!r->dec)
		ret = open_span(r, err);
	else if (r->seeking)
		ret = seek(r, r->status, err);
	else if (r->status & pts_event_pending)
		ret = step_event(r, err);
	else
		ret = step_block(r, items_in_a_row(r, max), err);
	if (!ret && !r->seeking && r->swallowed && r->dec && r->psb >= r->floor)
		ret = recover(r, -pte_bad_query, err);
	if (ret < 0)
		return ret;
	if (r->out.failed)
		return ptc_fail_mem(err);
	/* What an event still to be told of was read with is not behind us yet. */
	if (r->dec && !r->seeking)
		list_marks(r,
			   span_of(r)->base +
				   (r->status & pts_event_pending ? r->prev2_off : r->prev_off),
			   r->prev_now);
	return r->done ? 0 : 1;
}
