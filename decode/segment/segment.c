/* SPDX-License-Identifier: MIT */
#include "decode/segment/segment.h"

#include <stdlib.h>
#include <string.h>

#include "decode/image/addrspace.h"
#include "decode/items/branch_counts.h"
#include "decode/libipt/replay_state.h"

static void drop_notes(struct ptc_segment *p)
{
	if (p->notes)
		ptc_notes_release(p->notes);
	free(p->notes);
	p->notes = NULL;
}

void ptc_segment_release(struct ptc_segment *p)
{
	drop_notes(p);
	ptc_result_room_release(&p->own);
	*p = (struct ptc_segment){ .active = false };
}

/* Counts that libipt decodes a segment, and why: a literal. */
static void count_declined(struct ptc_engine *e, const char *why)
{
	size_t i;

	e->stats.declined++;
	for (i = 0; i < e->nreasons && strcmp(e->reasons[i].why, why) != 0; i++)
		;
	if (i == PTC_ENGINE_REASONS)
		return;
	if (i == e->nreasons)
		e->reasons[e->nreasons++] = (struct ptc_engine_reason){ .why = why };
	e->reasons[i].pieces++;
}

/*
 * Converts the times from ticks to ns, as the replay would. Returns false if they are out of order.
 */
static bool tell_times(struct ptc_replay *r, struct ptc_segment *p)
{
	uint64_t last = r->time.now, ns;
	size_t i;

	for (i = 0; i < p->nmarks; i++) {
		ns = to_ns(r, p->marks[i].tsc, UINT64_MAX);
		if (ns < last || ns > r->time.bound)
			return false;
		p->marks[i].tsc = last = ns;
	}
	return true;
}

/* Returns the time of the branch, or last instruction, with @insns instructions in front of it. */
static uint64_t last_time(const struct ptc_replay *r, const struct ptc_segment *p, uint64_t insns)
{
	size_t i = p->nmarks;

	while (i && p->marks[i - 1].insns >= insns)
		i--;
	return i ? p->marks[i - 1].tsc : r->time.now;
}

static void take_last(const struct ptc_replay *r, struct ptc_segment *p, const struct ptc_result *m)
{
	p->has_last = m->last.how != PTC_FAST_LAST_NONE;
	if (!p->has_last)
		return;
	p->last_kind = m->last.kind;
	p->last_len = m->last.len;
	p->last_ip = m->last.ip;
	p->last_time = last_time(r, p, m->insns);
	/* It is listed once its target is known. */
	if (m->last.listed)
		p->n--;
}

/* Swaps the memory of @p and @room. The contents of @room are dropped. */
static void swap_room(struct ptc_segment *p, struct ptc_result_room *room)
{
	const struct ptc_result_room old = p->own;

	p->own = *room;
	*room = old;
	room->nrecs = room->nmarks = room->nitems = room->nsteps = 0;
}

void ptc_segment_give_back(struct ptc_replay *r)
{
	struct ptc_segment *p = &r->piece;

	if (p->lender && p->active)
		swap_room(p, p->lender);
	else if (p->lender)
		ptc_out_keep(&r->out);
	p->lender = NULL;
}

/*
 * Makes @m the segment to hand over. @ahead: the buffer with its records; NULL: the buffer of @e.
 */
static void take_made(struct ptc_replay *r, struct ptc_engine *e, const struct ptc_result *m,
		      struct ptc_result_room *ahead)
{
	const struct ptc_result_room *room;

	ptc_out_keep(&r->out);
	if (!ahead)
		swap_room(&r->piece, &e->room);
	room = ahead ? ahead : &r->piece.own;
	r->piece = (struct ptc_segment){ .ahead = ahead,
					 .own = r->piece.own,
					 .lender = ahead,
					 .recs = room->recs ? room->recs + m->recs : NULL,
					 .n = m->n,
					 .nall = m->n,
					 .ip = m->ip,
					 .counted = m->counted,
					 .marks = m->nmarks ? room->marks + m->marks : NULL,
					 .nmarks = m->nmarks,
					 .end = m->end,
					 .insns = m->insns,
					 .has_land = m->on,
					 .land = m->ip,
					 .stays_on = m->stays_on,
					 .time = r->time.now };
	memcpy(r->piece.kinds, m->kinds, sizeof(m->kinds));
}

/* Reuses the buffer handed over last for the next segment, because it is in the CPU's cache. */
static void take_back(struct ptc_replay *r, struct ptc_engine *e)
{
	struct ptc_segment *p = &r->piece;

	if (p->active || p->lender)
		return;
	ptc_out_keep(&r->out);
	p->next = p->n = p->next_mark = p->nmarks = 0;
	swap_room(p, &e->room);
}

/* Finds the context at the replay. Returns NULL, or why it is not known. */
static const char *find_context(const struct ptc_replay *r, size_t *ret)
{
	const uint64_t time = known_time(r);
	const struct ptc_queue_contexts *known = r->conf.contexts;
	const struct ptc_context *c;

	if (!known || !ptc_queue_contexts_upto(known, time) || known->contexts->v[0].from_ns > time)
		return PTC_SEGMENT_CUT_SHORT;
	c = ptc_context_at(known->contexts, time);
	/* If time went back, records of later times have been applied. */
	if (c->pid != r->out.pid || c->tid != r->out.tid || c->cpu != r->out.cpu ||
	    !ptc_view_is_of(c->view, r->code.as))
		return PTC_SEGMENT_CUT_SHORT;
	*ret = (size_t)(c - known->contexts->v);
	return NULL;
}

static void make_here(struct ptc_replay *r, struct ptc_engine *e)
{
	struct ptc_segment_source s = { .span = span_of(r),
					.from = r->place.from,
					.next = r->psbs.next,
					.clock = &r->conf.clock,
					.contexts = r->conf.contexts,
					.to_ns = r->conf.to_ns,
					.listing = r->listing };

	e->made.why = find_context(r, &s.first);
	if (e->made.why)
		return;
	take_back(r, e);
	e->room.nrecs = e->room.nmarks = 0;
	ptc_engine_make(e, &s, &e->copy, &e->room, &e->made);
}

/* Returns the segment that begins here: made ahead, or made now by @e. */
static struct ptc_result *get_made(struct ptc_replay *r, struct ptc_engine *e)
{
	struct ptc_result *m = NULL;

	if (r->made)
		m = ptc_result_list_take(r->made, (struct ptc_spot){ r->span, r->place.from });
	if (m && !m->items && m->why != PTC_SEGMENT_CUT_SHORT && m->pid == r->out.pid &&
	    m->tid == r->out.tid && m->cpu == r->out.cpu &&
	    m->version == ptc_addrspace_version(r->code.as))
		return m;
	make_here(r, e);
	return &e->made;
}

/* Takes @m to hand over. Returns NULL, or why that is not possible. */
static const char *take_over(struct ptc_replay *r, struct ptc_engine *e, struct ptc_result *m)
{
	struct ptc_segment *p = &r->piece;

	if (m->why)
		return m->why;
	if (m->mode_before != r->code.mode || m->mode != r->code.mode)
		return "a change of mode";
	if (!m->on && r->trail.last.valid)
		return "a piece behind damage";
	take_made(r, e, m, m == &e->made ? NULL : &r->made->room);
	if (!tell_times(r, p))
		return "a time that goes back";
	take_last(r, p, m);
	if (r->next_mark < r->conf.nmarks &&
	    r->conf.marks[r->next_mark].off <= span_of(r)->base + p->end)
		return "something that AUX records tell";
	return NULL;
}

/*
 * Decodes the segment that begins here. @e is the engine of this thread. Returns NULL, or why not.
 */
static const char *decode_segment(struct ptc_replay *r, struct ptc_engine *e)
{
	if (ptc_replay_is_busy(r))
		return "a piece behind damage";
	if (r->time.now == PTC_NO_TIME && r->conf.clock.valid)
		return "a time that is not known";
	if (r->conf.clock.valid && r->applied > r->time.now)
		return PTC_SEGMENT_CUT_SHORT;
	return take_over(r, e, get_made(r, e));
}

bool ptc_segment_is_next(struct ptc_replay *r)
{
	struct ptc_engine *e = r->conf.engine;
	const struct ptc_result *m;
	const char *why;

	if (!e && !r->made && !r->piece.active)
		return false;
	if (!r->fresh)
		return r->piece.active && !(e && e->verify);
	r->fresh = false;
	if (r->piece.active)
		ptc_segment_check_end(r);
	m = ptc_segment_take_items(r);
	if (m && e)
		count_declined(e, m->declined);
	if (m)
		return true;
	if (!e)
		return false;
	why = decode_segment(r, e->maker ? e->maker : e);
	if (why) {
		count_declined(e, why);
		return false;
	}
	e->stats.pieces++;
	if (!r->before || !r->listing) /* the bytes in front belong to another shard */
		e->stats.bytes += r->piece.end - r->place.from;
	if (r->made)
		r->made->taken += r->piece.ahead;
	r->piece.active = true;
	r->parked = false;
	if (e->verify) {
		ptc_segment_expect(r);
		return false;
	}
	if (r->piece.has_land)
		ptc_branch_builder_land(&r->trail, r->piece.land);
	r->trail.last.valid = false;
	return true;
}

/* Counts the instructions of the segment by time. */
static void count_insns(struct ptc_replay *r)
{
	const struct ptc_segment *p = &r->piece;
	uint64_t time = p->time, done = 0;
	size_t i;

	for (i = 0; i < p->nmarks; i++) {
		ptc_out_ran(&r->out, p->marks[i].insns - done, time);
		done = p->marks[i].insns;
		time = p->marks[i].tsc;
	}
	ptc_out_ran(&r->out, p->insns - done, time);
}

/* All of the segment is handed over: the replay goes on at the PSB behind it. */
static int go_on_behind(struct ptc_replay *r)
{
	const struct ptc_segment *p = &r->piece;

	ptc_branch_builder_progress(&r->trail);
	r->trail.last.valid = p->has_last;
	if (p->has_last) {
		r->trail.last.kind = p->last_kind;
		r->trail.last.len = p->last_len;
		r->trail.last.ip = p->last_ip;
		r->trail.last.time = p->last_time;
	}
	/* While tracing is off libipt reads on, and its time advances. */
	if (p->stays_on && ptc_replay_park(r, p->end))
		return 0;
	return ptc_replay_begin_anew(r, p->end);
}

/*
 * All of the segment is handed over. The state becomes that of libipt at the PSB behind the
 * segment.
 */
static int finish(struct ptc_replay *r)
{
	struct ptc_segment *p = &r->piece;

	p->active = false;
	if (p->counted) {
		ptc_sums_add_kinds(r->conf.sums, p->kinds, p->n);
		r->out.stats->branches += p->n;
	}
	count_insns(r);
	r->idle = 0;
	r->time.told = r->time.now;
	return go_on_behind(r);
}

/* Returns where the records with the current time and thread end. */
static size_t end_of_time(const struct ptc_segment *p)
{
	size_t mark;

	if (p->next_mark >= p->nmarks)
		return p->n;
	mark = p->marks[p->next_mark].recs - p->marks[p->next_mark].late;
	return mark < p->n ? mark : p->n;
}

/* Hands over the next @n records, with @time. */
static void hand_over(struct ptc_replay *r, size_t n, uint64_t time)
{
	struct ptc_segment *p = &r->piece;

	if (!n) /* recs may be NULL then */
		return;
	if (p->counted)
		ptc_sums_add_time(r->conf.sums, time);
	else
		ptc_branch_builder_list(&r->trail, p->recs + p->next, n, time);
	p->next += n;
}

/* The last branch in front of a turn is listed behind it, as libipt does. */
static void list_late(struct ptc_replay *r)
{
	struct ptc_segment *p = &r->piece;

	p->late = r->trail.last.valid = false;
	hand_over(r, 1, p->late_time);
}

/* Moves on to the time of @m. */
static void move_on(struct ptc_replay *r, const struct ptc_fast_mark *m)
{
	struct ptc_segment *p = &r->piece;

	if (m->late && p->next < p->n) {
		p->late = true;
		p->late_time = r->time.now;
		r->trail.last.valid = true; /* no earlier item will follow */
		r->trail.last.time = r->time.now;
	}
	r->time.now = m->tsc;
}

/* Returns the maximum number of branches in a step that may list @max items. */
static size_t most_of(const struct ptc_replay *r, size_t max)
{
	if (r->piece.counted)
		return SIZE_MAX;
	if (!max)
		return 1;
	return r->out.runs && r->trail.quick ? SIZE_MAX : max;
}

int ptc_segment_step(struct ptc_replay *r, size_t max)
{
	struct ptc_segment *p = &r->piece;
	const size_t most = most_of(r, max);
	size_t left, n;

	if (p->items)
		return ptc_segment_step_items(r) ? go_on_behind(r) : 0;
	if (r->conf.opts->insns)
		return ptc_segment_step_insns(r, max) ? finish(r) : 0;
	if (p->late)
		list_late(r);
	left = end_of_time(p) - p->next;
	n = left < most ? left : most;
	hand_over(r, n, r->time.now);
	if (n < left)
		return 0;
	while (p->next_mark < p->nmarks) {
		move_on(r, &p->marks[p->next_mark++]);
		if (p->next < p->n)
			return 0;
	}
	/*
	 * Finish in the same step: only now can it be seen that the last instruction has an earlier
	 * time.
	 */
	return finish(r);
}
