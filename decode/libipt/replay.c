/* SPDX-License-Identifier: MIT */
#include "decode/libipt/replay.h"

#include <stdlib.h>
#include <string.h>

#include <intel-pt.h>

#include "base/err.h"
#include "decode/libipt/ipt_block.h"
#include "decode/libipt/replay_state.h"

/*
 * Limit of consecutive blocks from libipt without instructions, events or used bytes. PART_INSNS:
 * instructions per part of a block.
 */
enum { MAX_IDLE = 16, PART_INSNS = 1 << 16 };

/* Not an event type of libipt. */
enum { NO_EVENT = 0x7fffffff };

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

/* Initializes everything except the memory of items and the branch builder, which are reused. */
static void init_replay(struct ptc_replay *r, const struct ptc_replay_conf *conf)
{
	r->conf = *conf;
	r->time.now = r->time.prev_now = r->time.told = PTC_NO_TIME;
	r->time.bound = UINT64_MAX;
	r->stop = r->limit = (struct ptc_spot){ SIZE_MAX, SIZE_MAX };
	ptc_time_bound_init(&r->time.ahead, conf->stream, &r->conf.clock, conf->psbs);
	ptc_out_init(&r->out, conf->queue, conf->opts, conf->stats);
	r->out.runs = conf->runs;
	r->out.from_ns = conf->from_ns;
	r->out.to_ns = conf->to_ns;
	r->code.as = &r->code.none;
	skip_to_start(r);
	r->code.changed = true;
}

int ptc_replay_new(const struct ptc_replay_conf *conf, struct ptc_replay **ret, struct ptc_err *err)
{
	struct ptc_replay *r = calloc(1, sizeof(*r));

	if (!r)
		return ptc_fail_mem(err);
	init_replay(r, conf);
	ptc_branch_builder_init(&r->trail, &r->out, conf->opts);
	ptc_branch_builder_set_code(&r->trail, r->code.as);
	*ret = r;
	return 0;
}

void ptc_replay_free(struct ptc_replay *r)
{
	if (!r)
		return;
	ptc_replay_close_span(r);
	ptc_branch_builder_release(&r->trail);
	ptc_segment_release(&r->piece);
	ptc_out_release(&r->out);
	ptc_addrspace_release(&r->code.none);
	free(r);
}

void ptc_replay_renew(struct ptc_replay *r, const struct ptc_replay_conf *conf)
{
	const struct ptc_out_room room =
		ptc_out_swap_room(&r->out, (struct ptc_out_room){ .cap = 0 });

	ptc_replay_close_span(r);
	ptc_addrspace_release(&r->code.none);
	memset(r, 0, offsetof(struct ptc_replay, trail));
	init_replay(r, conf);
	(void)ptc_out_swap_room(&r->out, room);
	ptc_branch_builder_renew(&r->trail, &r->out, conf->opts);
	r->piece.active = false;
	r->piece.lender = NULL; /* buffers of segments made ahead may be freed now */
}

void ptc_replay_set_stop(struct ptc_replay *r, struct ptc_spot stop)
{
	r->stop = stop;
}

void ptc_replay_set_before(struct ptc_replay *r, bool before)
{
	r->before = before;
}

void ptc_replay_set_listing(struct ptc_replay *r, bool listing)
{
	r->listing = listing;
}

void ptc_replay_set_limit(struct ptc_replay *r, struct ptc_spot limit)
{
	r->limit = limit;
}

void ptc_replay_set_times(struct ptc_replay *r, uint64_t engine_to_ns, uint64_t from_ns,
			  uint64_t to_ns)
{
	r->conf.to_ns = engine_to_ns;
	r->out.from_ns = from_ns;
	r->out.to_ns = to_ns;
}

void ptc_replay_set_made(struct ptc_replay *r, struct ptc_result_list *made)
{
	ptc_segment_give_back(r);
	r->made = made;
}

void ptc_replay_set_applied(struct ptc_replay *r, uint64_t ns)
{
	r->applied = ns;
}

void ptc_replay_set_context(struct ptc_replay *r, int32_t pid, int32_t tid, int32_t cpu,
			    struct ptc_addrspace *as)
{
	r->out.pid = pid;
	r->out.tid = tid;
	r->out.cpu = cpu;
	if (!as)
		as = &r->code.none;
	if (as != r->code.as) {
		r->code.as = as;
		r->code.changed = true;
	}
}

struct ptc_out *ptc_replay_out(struct ptc_replay *r)
{
	return &r->out;
}

struct ptc_spot ptc_replay_spot(const struct ptc_replay *r)
{
	return (struct ptc_spot){ r->span, r->place.off };
}

struct ptc_spot ptc_replay_flow_spot(const struct ptc_replay *r)
{
	const size_t psb = ptc_replay_psb_ahead(r);

	return (struct ptc_spot){ r->span, psb && psb <= r->place.off ? psb - 1 : r->place.off };
}

bool ptc_replay_is_stuck(const struct ptc_replay *r)
{
	return r->stuck;
}

bool ptc_replay_is_in_piece(const struct ptc_replay *r)
{
	return r->piece.active;
}

uint64_t ptc_replay_time(const struct ptc_replay *r)
{
	return known_time(r);
}

uint64_t ptc_replay_low(const struct ptc_replay *r)
{
	const uint64_t t = known_time(r);

	if (r->trail.last.valid && r->trail.last.time < t)
		return r->trail.last.time;
	return r->gap.open && r->gap.time < t ? r->gap.time : t;
}

bool ptc_replay_has_open_gap(const struct ptc_replay *r)
{
	return r->gap.open && r->gap.time == PTC_NO_TIME;
}

void ptc_replay_lost(struct ptc_replay *r, uint64_t time)
{
	const struct ptc_stream *s = r->conf.stream;
	const bool over = r->span >= s->n;

	if (!over && r->time.now != PTC_NO_TIME && ptc_replay_low(r) < time)
		time = ptc_replay_low(r);
	ptc_out_lost(&r->out, over ? 0 : s->spans[r->span].base + r->place.off, time);
}

/* A read past the window cannot be repaired here: see recover.c. */
static void move_window(struct ptc_replay *r)
{
	if (ptc_window_is_stale(&r->window, r->place.off) &&
	    !ptc_window_passed(&r->window, r->place.off))
		ptc_window_move(&r->window, r->place.off);
}

/*
 * libipt reads ahead. If that fails, the error is reported for the branch that was asked for,
 * although its target, or more TNT bits, may be known already. Asking again gets them. Returns true
 * if decoding goes on.
 *
 * Not if a return failed on its own bit: the bit is used up, and the state of libipt depends on
 * whether the return was in its cache. The same applies behind an address that is missing.
 */
static bool has_more(struct ptc_replay *r)
{
	const enum pt_error_code error = pt_errcode(r->status);
	struct pt_block b;
	int status;

	if (!r->trail.last.valid || error == pte_bad_retcomp || error == pte_retstack_empty ||
	    error == pte_noip)
		return false;
	status = pt_blk_next(r->dec, &b, sizeof(b));
	status = ptc_ipt_track_block(&r->track, r->dec, status, &b);
	if (b.ip != r->trail.last.ip) {
		ptc_replay_land(r, b.ip);
		return false;
	}
	/* The same branch again: it worked, with a bit. */
	if (status < 0 || b.ninsn != 1)
		return false;
	r->status = status;
	(void)ptc_replay_position(r);
	return true;
}

/* With opts->insns each instruction is an item: a block of millions of them is listed in parts. */
static uint32_t most_of_block(const struct ptc_replay *r)
{
	return r->conf.opts->insns ? PART_INSNS : UINT32_MAX;
}

/*
 * Calls ptc_replay_run_blocks() if possible. Otherwise decodes one block, and asks the decoder for
 * its position. The block loop is impossible while the pending instruction has another time,
 * because all items of the loop have one time.
 */
static enum ptc_left next_blocks(struct ptc_replay *r, size_t max, struct pt_block *b)
{
	const uint32_t most = most_of_block(r);

	if (r->trail.last.time != r->time.now)
		max = 0;
	if (ptc_branch_builder_is_quick(&r->trail) && !r->gap.open && ptc_out_reserve(&r->out, max))
		return ptc_replay_run_blocks(r, max, b);
	r->status = ptc_ipt_next_block(r->dec, b, &r->ninsn, most);
	r->status = ptc_ipt_track_block(&r->track, r->dec, r->status, b);
	ptc_replay_look_behind(r, b);
	return PTC_LEFT_BLOCK;
}

/*
 * Repeats the step that waited for code. If there still is no code, it counts as one step: decoding
 * ahead waits where a single thread does not.
 */
static enum ptc_left next_block_again(struct ptc_replay *r, struct pt_block *b)
{
	const size_t prev = r->place.prev_off, prev2 = r->place.prev2_off;
	const uint64_t now = r->time.prev_now;
	const enum ptc_left left = next_blocks(r, 0, b);

	r->again = false;
	if (r->status < 0 && !b->ninsn) {
		r->place.prev_off = prev;
		r->place.prev2_off = prev2;
		r->time.prev_now = now;
	}
	return left;
}

/*
 * No packet is left, so nothing proves that the next block ran: it is not listed. But the target of
 * the last branch is known.
 */
static int step_to_end(struct ptc_replay *r)
{
	struct pt_block b;

	r->status = pt_blk_next(r->dec, &b, sizeof(b));
	ptc_replay_look_behind(r, &b);
	/* The last branch led here: that is behind the gap, if there is one. */
	if (r->status >= 0 || b.ninsn)
		ptc_replay_list_gap(r, r->time.now);
	ptc_replay_land(r, b.ip);
	return ptc_replay_recover(r, b.ninsn || r->status >= 0 ? -pte_eos : r->status);
}

static int step_block(struct ptc_replay *r, size_t max)
{
	struct ptc_branch_builder_block fb;
	struct pt_block b;
	const uint64_t time = r->time.now;
	enum ptc_left left;
	bool goes_on;

	move_window(r);
	if (r->status > 0 && r->status & pts_eos && !(r->status & pts_ip_suppressed))
		return step_to_end(r);
	r->proof.event_ip = r->proof.fup_end = 0;
	left = r->again ? next_block_again(r, &b) : next_blocks(r, max, &b);
	goes_on = left != PTC_LEFT_ENDLESS;
	/* A failed block is listed too: its instructions up to the failure ran. */
	if (left == PTC_LEFT_BLOCK && b.ninsn) {
		ptc_replay_list_gap(r, time);
		r->time.told = time;
		if (!r->in_block)
			r->block_ip = b.ip;
		r->in_block = ptc_ipt_is_part(r->status, &b, r->ninsn, most_of_block(r));
		fb = (struct ptc_branch_builder_block){
			.ip = b.ip,
			.end_ip = b.end_ip,
			.ninsn = r->ninsn,
			.mode = mode_of(b.mode),
			.time = time,
			/* libipt continues past jumps up to a PTWRITE. */
			.bent = r->status & pts_event_pending,
			.part = r->in_block,
			.whole = r->block_ip
		};
		goes_on = ptc_branch_builder_block(&r->trail, &fb);
		r->idle = 0;
	} else if (left == PTC_LEFT_BLOCK && r->status >= 0 && !(r->status & pts_event_pending) &&
		   r->place.off == r->place.prev_off) {
		goes_on = ++r->idle < MAX_IDLE;
	}
	/* A block that cannot begin still shows where the last one led. */
	if (r->status < 0 && !b.ninsn)
		ptc_replay_land(r, b.ip);
	if (r->status < 0 && (ptc_replay_wait_for_code(r) || (b.ninsn && has_more(r))))
		return 0;
	if (r->status < 0)
		return ptc_replay_recover(r, r->status);
	if (!goes_on)
		return ptc_replay_recover(r, r->status & pts_eos ? -pte_eos : -pte_bad_query);
	return 0;
}

static int step_event(struct ptc_replay *r, struct ptc_err *err)
{
	/* The previous call read the event. */
	const size_t from = r->place.prev_off, to = r->place.off;
	const uint64_t bound = r->time.bound;
	struct pt_event ev = { .type = (enum pt_event_type)NO_EVENT };
	const bool off = r->status & pts_ip_suppressed;
	size_t psb, due;
	int ret;

	move_window(r);
	due = ptc_replay_begin_event(r);
	ptc_replay_note_place(r, from, to);
	r->status = ptc_ipt_track_event(&r->track, r->dec, &ev);
	ptc_replay_look_around(r);
	/* The failure may concern only the search for the next event. */
	if (r->status < 0 && (int)ev.type == NO_EVENT) {
		ptc_replay_land(r, ptc_replay_current_ip(r));
		return ptc_replay_recover(r, r->status);
	}
	if (ptc_replay_strayed(r, &ev, off, to))
		return ptc_replay_recover(r, -pte_bad_query);
	ptc_replay_take_event(r, &ev, from, to, bound);
	ret = ptc_replay_follow_mode(r, &ev, err);
	if (ret < 0)
		return ret;
	if (r->status >= 0) {
		psb = ptc_replay_came_to_psb(r, &ev, due);
		return psb < SIZE_MAX ? ptc_replay_begin_anew(r, psb) : 0;
	}
	r->place.prev2_off = r->place.prev_off; /* that event is already reported */
	return ptc_replay_recover(r, r->status);
}

/*
 * While the time stays the same, nothing must be done between two blocks. Returns 0 while the
 * pending instruction has an earlier time: it may be the last requested one.
 */
static size_t items_in_a_row(const struct ptc_replay *r, size_t max)
{
	/* Each such event is listed behind the block that reaches it. */
	if (r->conf.opts->events && ptc_mask_next(&r->window.mask, SIZE_MAX))
		return 0;
	return ptc_replay_low(r) == known_time(r) ? max : 0;
}

int ptc_replay_step(struct ptc_replay *r, struct ptc_err *err)
{
	return ptc_replay_steps(r, 0, err);
}

/*
 * Verify: returns the index of the first item of this step, or SIZE_MAX if items are not checked.
 */
static size_t first_item(struct ptc_replay *r)
{
	return r->piece.active && ptc_out_reserve(&r->out, 0) ? r->out.n : SIZE_MAX;
}

/*
 * Lists marks in front of the position. Not passed yet: the packets of a pending event, and the end
 * of the span while the last branch may be pending.
 */
static void list_marks_behind(struct ptc_replay *r)
{
	const size_t at = r->status & pts_event_pending ? r->place.prev2_off : r->place.prev_off;
	const struct ptc_span *sp = span_of(r);

	if (r->conf.opts->events)
		ptc_replay_list_masked(r, at, r->time.prev_now);
	ptc_replay_list_marks(r, sp->base + (at < sp->len ? at : sp->len - 1), r->time.prev_now);
}

/* The engine was asked, and declined: the decoder goes on. */
static int leave_park(struct ptc_replay *r)
{
	const size_t psb = r->place.from;
	const int ret = ptc_replay_begin_anew(r, psb);

	if (r->place.from == psb)
		r->fresh = false;
	return ret;
}

int ptc_replay_steps(struct ptc_replay *r, size_t max, struct ptc_err *err)
{
	const size_t first = first_item(r);
	const uint64_t ran = r->out.ran;
	int ret;

	if (r->done || r->span >= r->conf.stream->n)
		return 0;
	ret = ptc_replay_use_code(r, err);
	if (ret < 0)
		return ret;
	if (!r->dec)
		ret = ptc_replay_open_span(r, err);
	else if (r->seeking)
		ret = ptc_replay_seek(r, r->status);
	else if (ptc_segment_is_next(r))
		ret = ptc_segment_step(r, max);
	else if (r->parked)
		ret = leave_park(r);
	else if (r->status & pts_event_pending)
		ret = step_event(r, err);
	else
		ret = step_block(r, items_in_a_row(r, max));
	if (!ret && !r->seeking && r->psbs.swallowed && r->dec && r->psbs.check >= r->place.floor &&
	    !ptc_replay_tell_of_rest(r))
		ret = ptc_replay_recover(r, -pte_bad_query);
	if (ret < 0)
		return ret;
	if (r->out.failed)
		return ptc_fail_mem(err);
	if (r->trail.last.time == PTC_NO_TIME && r->time.now != PTC_NO_TIME)
		ptc_branch_builder_learn_time(&r->trail, r->time.now);
	if (r->dec && !r->seeking)
		list_marks_behind(r);
	r->piece.ran += r->out.ran - ran;
	if (first < SIZE_MAX && r->piece.active && r->conf.engine && r->conf.engine->verify)
		ptc_segment_check(r, first);
	return r->done ? 0 : 1;
}

bool ptc_replay_is_at_psb(const struct ptc_replay *r)
{
	return r->dec && r->fresh && !r->in_block && !r->seeking && !ptc_replay_is_busy(r);
}

void ptc_replay_begin_made(const struct ptc_replay *r, struct ptc_result *m)
{
	const struct ptc_psb_plus psb = psb_plus_at(r, (ptrdiff_t)r->place.from);

	m->items = true;
	m->spot = (struct ptc_spot){ r->span, r->place.from };
	m->pid = r->out.pid;
	m->tid = r->out.tid;
	m->cpu = r->out.cpu;
	m->version = ptc_addrspace_version(r->code.as);
	m->mode_before = r->code.mode;
	m->begin_ns = r->time.now;
	m->bound = r->time.bound;
	m->on = psb.ip;
	m->ip = psb.at;
}

void ptc_replay_end_made(struct ptc_replay *r, struct ptc_result *m)
{
	struct ptc_branch_builder *t = &r->trail;

	m->end = r->place.from;
	m->mode = r->code.mode;
	m->told = r->time.told;
	m->last.how = t->last.valid ? PTC_FAST_LAST_INSN : PTC_FAST_LAST_NONE;
	m->last.kind = t->last.kind;
	m->last.len = t->last.len;
	m->last.ip = t->last.ip;
	m->last_time = t->last.time;
	t->last.valid = false;
	ptc_branch_builder_progress(t);
}
