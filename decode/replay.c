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
	 * What is known without asking the decoder where it is: that this many more TNT bits, and
	 * nothing else of the trace, can be used without its reading on; -1: nothing is known.
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
	struct ptc_spot stop; /* a row of steps ends there */
	bool from_start;      /* the decoder has not been set anew since it began at conf.start */
	bool doubtful;	      /* see ptc_replay_is_doubtful */
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

/* All but the items' memory and the trail, which are good for another use. */
static void begin(struct ptc_replay *r, const struct ptc_replay_conf *conf)
{
	r->conf = *conf;
	r->now = r->prev_now = r->told = PTC_NO_TIME;
	r->bound = UINT64_MAX;
	r->stop = (struct ptc_spot){ SIZE_MAX, SIZE_MAX };
	ptc_ahead_init(&r->ahead, conf->stream, &r->conf.clock);
	ptc_out_init(&r->out, conf->queue, conf->opts, conf->stats);
	r->as = &r->none;
	skip_to_start(r);
	r->as_changed = true;
}

int ptc_replay_new(const struct ptc_replay_conf *conf, struct ptc_replay **ret, struct ptc_err *err)
{
	struct ptc_replay *r = calloc(1, sizeof(*r));

	if (!r)
		return ptc_fail_mem(err);
	begin(r, conf);
	ptc_trail_init(&r->trail, &r->out, conf->opts);
	ptc_trail_set_code(&r->trail, r->as);
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
	ptc_out_release(&r->out);
	ptc_addrspace_release(&r->none);
	free(r);
}

void ptc_replay_renew(struct ptc_replay *r, const struct ptc_replay_conf *conf)
{
	struct ptc_item *items = r->out.items;
	const size_t cap = r->out.cap;

	close_span(r);
	ptc_addrspace_release(&r->none);
	memset(r, 0, offsetof(struct ptc_replay, trail));
	begin(r, conf);
	r->out.items = items;
	r->out.cap = cap;
	ptc_trail_renew(&r->trail, &r->out, conf->opts);
}

void ptc_replay_lend(struct ptc_replay *r, const struct ptc_ipt *ipt,
		     struct ptc_decode_stats *stats, struct ptc_notes *notes)
{
	if (r->gap_cost)
		r->gap_cost = ptc_notes_cost(notes, r->conf.notes, r->gap_cost);
	r->conf.ipt = ipt;
	r->conf.stats = r->out.stats = stats;
	r->conf.notes = notes;
	r->as_changed = true; /* the decoder has an image of the other one */
}

void ptc_replay_set_stop(struct ptc_replay *r, struct ptc_spot stop)
{
	r->stop = stop;
}

bool ptc_replay_is_doubtful(const struct ptc_replay *r)
{
	return r->doubtful;
}

bool ptc_replay_is_unbroken(const struct ptc_replay *r)
{
	return r->from_start;
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

struct ptc_replay_at ptc_replay_where(const struct ptc_replay *r)
{
	return (struct ptc_replay_at){ .now = r->now,
				       .low = ptc_replay_low(r),
				       .spot = { r->span, r->off } };
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

void ptc_replay_lost(struct ptc_replay *r, struct ptc_replay_at at, uint64_t time)
{
	const struct ptc_stream *s = r->conf.stream;
	const bool over = at.spot.span >= s->n;

	if (!over && at.now != PTC_NO_TIME && at.low < time)
		time = at.low;
	ptc_out_lost(&r->out, over ? 0 : s->spans[at.spot.span].base + at.spot.off, time);
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

/* @calls of the decoder have not moved it. */
static inline void stay(struct ptc_replay *r, size_t calls)
{
	if (calls)
		r->prev2_off = calls > 1 ? r->off : r->prev_off;
	if (calls)
		r->prev_off = r->off;
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
	r->from_start = false;
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
		r->gap_cost =
			ptc_notes_nocode(r->conf.notes, r->as, current_ip(r),
					 (struct ptc_note_at){ ptc_replay_time(r), r->conf.queue });
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
	r->doubtful |= r->from_start && pt_errcode(status) == pte_retstack_empty;
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
	r->from_start = midway;
	/* What was in front of it would tell the mode of execution. */
	r->doubtful = midway && !r->at_first;
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

static bool is_tnt(const uint8_t *p, size_t left)
{
	return left && (ptc_pkt_is_tnt(p[0]) || ptc_pkt_is_tnt64(p, left));
}

/*
 * A block has used the packet at @p, where the decoder was, with @left bytes to the end; now the
 * decoder is @n bytes further on. It never reads on, and takes no event, while it has bits of a
 * TNT packet left, nor if another TNT packet comes next.
 */
static void note_packet(struct ptc_replay *r, const uint8_t *p, size_t n, size_t left)
{
	size_t len = 0;
	int bits = -1;

	if (is_tnt(p, left)) {
		bits = ptc_pkt_tnt_bits(p);
		len = p[0] == 0x02 ? PTC_TNT64_LEN : 1;
	} else if (ptc_pkt_is_tip(p[0])) {
		bits = 1;
		len = ptc_pkt_ip_len(p[0]);
	}
	r->quiet = bits > 0 ? bits - 2 + (n == len && is_tnt(p + n, left - n)) : -1;
	/* Nothing behind it, nor behind the one before it: the time is what it was. */
	if (n != len || r->lags)
		look_at_time(r);
	r->lags = n != len;
}

/*
 * look_around after a block that may have used trace, but had no event and no error, and after
 * @kept blocks in front of it that have not.
 */
static void look_ahead(struct ptc_replay *r, size_t kept)
{
	const size_t raw = r->raw, room = room_of(r);
	const uint64_t bound = r->bound;

	stay(r, kept + 1);
	r->quiet = -1;
	r->off = position(r);
	if (r->off > r->psb)
		check_psb(r);
	look_at_bound(r);
	if (r->bound != bound)
		r->lags = true;
	if (r->raw > raw)
		note_packet(r, r->window.bytes - room + raw, r->raw - raw,
			    room + span_of(r)->len - raw);
	else if (r->lags)
		look_at_time(r);
	/* The next call has another bound, though it may use nothing. */
	if (r->conf.clock.valid &&
	    ptc_ahead_is_due(&r->ahead, (struct ptc_spot){ r->span, r->off }))
		r->quiet = -1;
}

/* Where in the span a step may go on to before somebody else must have a look. */
static size_t next_stop(const struct ptc_replay *r)
{
	const size_t stop = r->stop.span == r->span ? r->stop.off : SIZE_MAX;
	uint64_t mark;

	if (r->next_mark == r->conf.nmarks)
		return stop;
	mark = r->conf.marks[r->next_mark].off - span_of(r)->base;
	return mark < stop ? (size_t)mark : stop;
}

enum left {
	LEFT_NOTHING, /* to be done */
	LEFT_BLOCK,   /* that was not looked at */
	LEFT_ENDLESS, /* ptc_trail_block said no */
};

/* What changes from block to block in a run. */
struct run {
	uint64_t insns;
	uint64_t last_ip;	/* of the pending instruction */
	struct ptc_item *it;	/* where the next item goes */
	int quiet;		/* as in the replay */
	size_t kept;		/* calls since the decoder was asked where it is */
	bool progress, endless; /* to be told of to the trail; an endless loop */
};

/* The pending instruction led to @b. What differs from block to block is computed, not jumped over.
 */
static inline void land_in(struct run *run, const struct ptc_item *stamp, struct ptc_trail_insn e,
			   const struct pt_block *b)
{
	const bool stays = (e.kind == PTC_KIND_JCC) & (b->ip == run->last_ip + e.len);
	struct ptc_item *it = run->it;

	/* Member by member: gcc copies and clears a structure of this size with slow instructions.
	 */
	it->from = run->last_ip;
	it->to = b->ip;
	it->time = stamp->time;
	it->pid = stamp->pid;
	it->tid = stamp->tid;
	it->cpu = stamp->cpu;
	it->queue = stamp->queue;
	it->type = PTC_ITEM_BRANCH;
	it->kind = e.kind;
	it->cause = 0;
	it->insn_len = 0;
	memset(it->insn, 0, sizeof(it->insn));
	memset(it->reserved, 0, sizeof(it->reserved));
	run->it += (e.kind != PTC_KIND_NONE) & !stays;
	run->last_ip = b->end_ip;
	run->insns += b->ninsn;
}

/* What @b took of the trace, as far as it is known without asking. */
static inline void take_trace(struct run *run, struct ptc_trail *t, const struct pt_block *b)
{
	uint8_t kind;

	/* Looked up when it is needed: until then its entry is in the processor's cache. */
	if (b->iclass == ptic_cond_jump || b->iclass == ptic_return) {
		ptc_trail_prefetch(t, b->end_ip);
		run->progress = true;
		run->quiet--;
		return;
	}
	kind = ptc_trail_look_up(t, b->end_ip, PTC_MODE_64).kind;
	if (run->progress)
		ptc_trail_progress(t);
	run->progress = ptc_trail_needs_trace(kind);
	if (!run->progress)
		run->endless = ptc_trail_is_endless(t, b->ip);
	/* Where there is none for Zydis, libipt may know better, and have used trace. */
	if (kind != PTC_KIND_JMP && kind != PTC_KIND_CALL)
		run->quiet = -1;
}

/* Is a run over, now that the decoder has moved? */
static bool is_over(const struct ptc_replay *r, uint64_t time, size_t stop)
{
	return r->now != time || r->off >= stop || r->swallowed ||
	       ptc_window_is_stale(&r->window, r->off);
}

/* @run by value: its address must not be known to anybody. */
static void end_run(struct ptc_replay *r, struct run run, uint64_t time)
{
	struct ptc_trail *t = &r->trail;
	const size_t n = (size_t)(run.it - r->out.items);
	struct ptc_trail_insn e;

	r->quiet = run.quiet;
	r->prev_now = time;
	stay(r, run.kept);
	if (!run.insns)
		return;
	r->told = time;
	e = ptc_trail_look_up(t, run.last_ip, PTC_MODE_64);
	t->last.kind = e.kind;
	t->last.len = e.len;
	t->last.ip = run.last_ip;
	t->last.time = time;
	if (run.progress)
		ptc_trail_progress(t);
	r->out.stats->insns += run.insns;
	r->out.stats->branches += n - r->out.n;
	r->out.n = n;
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
 * Blocks in a row, until one is not as most are, the time changes, or there are @max items; of
 * the pending instruction's time.
 */
static enum left run_blocks(struct ptc_replay *r, size_t max, struct pt_block *b)
{
	const uint64_t time = r->now;
	const size_t stop = next_stop(r);
	const struct ptc_item stamp = ptc_out_stamp(&r->out, time);
	const struct ptc_item *end = r->out.items + r->out.head + max;
	struct ptc_trail_insn e = { .kind = r->trail.last.kind, .len = r->trail.last.len };
	struct run run = { .last_ip = r->trail.last.ip,
			   .it = r->out.items + r->out.n,
			   .quiet = r->quiet };
	bool over = r->off >= stop;

	do {
		r->status = pt_blk_next(r->dec, b, sizeof(*b));
		if (r->status || !b->ninsn || b->mode != ptem_64bit) {
			end_run(r, run, time);
			look_around(r);
			return LEFT_BLOCK;
		}
		if (run.insns)
			e = ptc_trail_look_up(&r->trail, run.last_ip, PTC_MODE_64);
		land_in(&run, &stamp, e, b);
		take_trace(&run, &r->trail, b);
		if (run.quiet >= 0) {
			run.kept++;
			continue;
		}
		look_ahead(r, run.kept);
		run.kept = 0;
		run.quiet = r->quiet;
		over = is_over(r, time, stop);
	} while (!over && !run.endless && run.it < end);
	end_run(r, run, time);
	return run.endless ? LEFT_ENDLESS : LEFT_NOTHING;
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

bool ptc_replay_seam(const struct ptc_replay *r, struct ptc_seam *ret)
{
	const struct ptc_trail *t = &r->trail;

	/* What is under way, or found out by looking back over more than the last calls, is not
	 * compared: there it is no seam. */
	if (!r->dec || r->seeking || r->gap || r->rest || r->swallowed || r->at_first || r->idle ||
	    r->ahead_of != SIZE_MAX || r->status || r->prev_off >= r->off || !t->last.valid ||
	    t->nheld || r->prev2_off < r->floor || r->prev2_off < r->clean)
		return false;
	*ret = (struct ptc_seam){
		.spot = { r->span, r->off },
		.raw = r->raw - room_of(r),
		.prev_off = r->prev_off,
		.prev2_off = r->prev2_off,
		.psb = r->psb,
		.next_mark = r->next_mark,
		.now = r->now,
		.prev_now = r->prev_now,
		.told = r->told,
		.bound = r->bound,
		.ahead_last = r->ahead.last_ns,
		.last_ip = t->last.ip,
		.last_time = t->last.time,
		.last_kind = t->last.kind,
		.last_len = t->last.len,
		.loop_mark = t->loop_steps ? t->loop_mark : 0,
		.loop_steps = t->loop_steps,
		.loop_limit = t->loop_limit,
		.pid = r->out.pid,
		.tid = r->out.tid,
		.cpu = r->out.cpu,
		.as_version = ptc_addrspace_version(r->as),
	};
	memcpy(ret->ahead, r->ahead.psb, sizeof(ret->ahead));
	return true;
}
