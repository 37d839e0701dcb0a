/* SPDX-License-Identifier: MIT */
/*
 * Segments that libipt decodes before their turn: how a thread makes one, and how the queue hands
 * it over.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "decode/libipt/replay_state.h"
#include "decode/segment/segment.h"
#include "decode/segment/work_unit.h"

/* Limit of items in a segment, for any trace. */
enum { ITEMS_MAX = 1 << 20 };

/* Making */

static void use_context(struct ptc_slice *s, struct ptc_slice_worker *w, uint64_t time)
{
	const struct ptc_context *end = s->contexts.v + s->contexts.n, *c = w->now;

	w->time = time;
	if (!c)
		c = ptc_context_at(&s->contexts, time);
	while (c + 1 < end && c[1].from_ns <= time)
		c++;
	if (c == w->now)
		return;
	/* Copies of several views have been at the same address. */
	w->replay->as_changed |= !w->now || w->now->view != c->view;
	w->now = c;
	ptc_replay_set_context(w->replay, c->pid, c->tid, c->cpu,
			       ptc_slice_worker_space(w, c->view));
}

/* Begins at the PSB at @at, unless the replay stands there. Returns false if that fails. */
static bool go_to(struct ptc_slice *s, struct ptc_slice_worker *w, struct ptc_spot at)
{
	struct ptc_replay_conf conf = s->conf;
	struct ptc_err err;

	if (w->replay && w->at.span == at.span && w->at.off == at.off)
		return true;
	conf.start = at;
	conf.ipt = w->ipt;
	conf.engine = NULL;
	conf.stats = &w->stats;
	conf.notes = &w->notes;
	conf.ahead = true;
	w->notes.apart = true;
	w->now = NULL;
	if (w->replay)
		ptc_replay_renew(w->replay, &conf);
	else if (ptc_replay_new(&conf, &w->replay, &err) < 0)
		return false;
	use_context(s, w, 0);
	if (ptc_replay_step(w->replay, &err) <= 0 || !ptc_replay_is_at_psb(w->replay) ||
	    w->replay->span != at.span || w->replay->from != at.off)
		return false;
	/* The thread that ran at that time is not known here. */
	if (ptc_replay_time(w->replay) < s->contexts.v[0].from_ns)
		return false;
	use_context(s, w, ptc_replay_time(w->replay));
	return true;
}

/*
 * While the time stays the same, steps are merged. But sideband records of a time are applied at
 * the first step of that time, so the step behind it stays separate.
 */
static bool goes_with_last(const struct ptc_slice *s, const struct ptc_made *m,
			   const struct ptc_made_step *step)
{
	const struct ptc_made_step *last;

	if (m->nsteps < 2)
		return false;
	last = s->made.room.steps + s->made.room.nsteps - 1;
	return last->now == step->now && last[-1].now == step->now &&
	       step->n - last[-1].n <= s->batch;
}

/* @ran: instructions in front of the segment. */
static bool add_step(struct ptc_slice *s, const struct ptc_replay *r, struct ptc_made *m,
		     uint64_t ran)
{
	struct ptc_made_room *room = &s->made.room;
	const struct ptc_made_step step = { .now = r->now,
					    .low = ptc_replay_low(r),
					    .off = r->off,
					    .n = r->out.n - m->recs,
					    .newest = r->out.newest };

	/* Items in front of the first instruction: its step is not known. */
	if (m->land == SIZE_MAX && (r->trail.landed || r->out.ran > ran) &&
	    (!m->nsteps || !room->steps[room->nsteps - 1].n))
		m->land = m->nsteps;
	if (goes_with_last(s, m, &step)) {
		if (m->land == m->nsteps)
			m->land--;
		room->steps[room->nsteps - 1] = step;
		return true;
	}
	if (!ptc_grow(&room->steps, &room->steps_cap, room->nsteps + 1, sizeof(*room->steps)))
		return false;
	room->steps[room->nsteps++] = step;
	m->nsteps++;
	return true;
}

/* Decodes up to a PSB at which another segment can begin. Returns false if there is none. */
static bool run(struct ptc_slice *s, struct ptc_slice_worker *w, struct ptc_made *m)
{
	struct ptc_replay *r = w->replay;
	const uint64_t ran = r->out.ran;
	size_t from = r->from;
	struct ptc_err err;
	uint64_t time;

	r->trail.landed = false;
	do {
		time = ptc_replay_time(r);
		/* Times out of order, or behind the horizon, are decoded in their turn. */
		if (time < w->time || time > s->known.upto)
			return false;
		use_context(s, w, time);
		from = r->from;
		if (ptc_replay_steps(r, r->out.n + s->batch, &err) <= 0 || r->stuck ||
		    r->span != m->spot.span || r->out.n - m->recs > ITEMS_MAX ||
		    !add_step(s, r, m, ran))
			return false;
	} while (r->from == from || !ptc_replay_is_at_psb(r));
	return true;
}

/* Returns the notes since the last call, or NULL: none, or out of memory. */
static struct ptc_notes *take_notes(struct ptc_slice_worker *w)
{
	struct ptc_notes *notes = ptc_notes_are_any(&w->notes) ? malloc(sizeof(*notes)) : NULL;

	if (!notes)
		return NULL;
	*notes = w->notes;
	w->notes = (struct ptc_notes){ .apart = true };
	return notes;
}

/* Lets @o append to the items of @room. */
static void lend_items(struct ptc_out *o, struct ptc_made_room *room)
{
	struct ptc_out_room own = ptc_out_swap_room(
		o, (struct ptc_out_room){ .items = room->items, .cap = room->items_cap });

	ptc_out_room_release(&own);
	o->n = room->nitems;
}

static void take_items_back(struct ptc_out *o, struct ptc_made_room *room)
{
	const size_t n = o->n;
	const struct ptc_out_room all = ptc_out_swap_room(o, (struct ptc_out_room){ .cap = 0 });

	room->items = all.items;
	room->items_cap = all.cap;
	room->nitems = n;
}

size_t ptc_segment_make_items(struct ptc_slice *s, struct ptc_slice_worker *w, struct ptc_spot at,
			      const char *why)
{
	struct ptc_made_room *room = &s->made.room;
	struct ptc_made *m;
	struct ptc_out *o;

	ptc_notes_release(&w->notes);
	w->notes = (struct ptc_notes){ .apart = true };
	if (!go_to(s, w, at)) {
		w->at.span = SIZE_MAX;
		return SIZE_MAX;
	}
	m = ptc_made_list_add(&s->made);
	if (!m)
		return SIZE_MAX;
	o = ptc_replay_out(w->replay);
	w->stats = (struct ptc_decode_stats){ 0 };
	m->declined = why;
	m->recs = room->nitems;
	m->steps = room->nsteps;
	m->land = SIZE_MAX;
	lend_items(o, room);
	ptc_replay_begin_made(w->replay, m);
	if (run(s, w, m)) {
		ptc_replay_end_made(w->replay, m);
		m->n = o->n - m->recs;
		m->stats = w->stats;
		m->notes = take_notes(w);
		w->at = (struct ptc_spot){ m->spot.span, m->end };
	} else {
		room->nsteps = m->steps;
		o->n = m->recs;
		ptc_made_list_drop(&s->made);
		m = NULL;
		w->at.span = SIZE_MAX;
	}
	take_items_back(o, room);
	return m ? m->end : SIZE_MAX;
}

/* Handing over */

/* Returns true if @m begins as the replay stands, and nothing else happens in it. */
static bool fits(const struct ptc_replay *r, const struct ptc_made *m)
{
	const struct ptc_made_step *end = &r->made->room.steps[m->steps + m->nsteps - 1];

	if (ptc_replay_is_busy(r) || r->in_block || m->pid != r->out.pid || m->tid != r->out.tid ||
	    m->cpu != r->out.cpu || m->version != ptc_addrspace_version(r->as) ||
	    m->mode_before != r->mode || m->begin_ns != r->now || m->bound != r->bound ||
	    (r->trail.last.valid && (!m->on || m->land == SIZE_MAX)))
		return false;
	if (r->told != PTC_NO_TIME && r->told > m->begin_ns)
		return false;
	/* If time went back, records of later times have been applied. */
	if (r->conf.clock.valid && r->applied > m->begin_ns)
		return false;
	if (r->conf.to_ns && end->now >= r->conf.to_ns)
		return false;
	return r->next_mark >= r->conf.nmarks ||
	       r->conf.marks[r->next_mark].off > span_of(r)->base + m->end;
}

bool ptc_segment_take_items(struct ptc_replay *r)
{
	const struct ptc_made_room *room;
	struct ptc_piece *p = &r->piece;
	struct ptc_made *m;

	if (!r->made)
		return false;
	m = ptc_made_list_find(r->made, (struct ptc_spot){ r->span, r->from });
	if (!m || !m->items || !fits(r, m))
		return false;
	if (r->conf.engine)
		ptc_engine_count_declined(r->conf.engine, m->declined);
	ptc_out_keep(&r->out);
	room = &r->made->room;
	r->made->taken++;
	r->piece = (struct ptc_piece){ .active = true,
				       .ahead = true,
				       .items = true,
				       .own = p->own,
				       .lender = &r->made->room,
				       .its = room->items + m->recs,
				       .n = m->n,
				       .steps = room->steps + m->steps,
				       .nsteps = m->nsteps,
				       .land = m->ip,
				       .land_step = r->trail.last.valid ? m->land : SIZE_MAX,
				       .end = m->end,
				       .time = r->now,
				       .told = m->told,
				       .stats = m->stats,
				       .notes = m->notes,
				       .has_last = m->last.how != PTC_FAST_LAST_NONE,
				       .last_kind = m->last.kind,
				       .last_len = m->last.len,
				       .last_ip = m->last.ip,
				       .last_time = m->last_time,
				       .stays_on = true };
	m->notes = NULL;
	r->parked = false;
	return true;
}

static void add_stats(struct ptc_decode_stats *to, const struct ptc_decode_stats *s)
{
	size_t i;

	to->insns += s->insns;
	to->branches += s->branches;
	for (i = 0; i < PTC_GAP_COUNT; i++)
		to->gaps[i] += s->gaps[i];
}

static int finish(struct ptc_replay *r)
{
	struct ptc_piece *p = &r->piece;

	p->active = false;
	add_stats(r->conf.stats, &p->stats);
	if (p->notes) {
		ptc_notes_take(r->conf.notes, p->notes);
		ptc_notes_release(p->notes);
		free(p->notes);
		p->notes = NULL;
	}
	/* These were listed already. */
	while (ptc_mask_next(&r->window.mask, p->end))
		ptc_mask_take(&r->window.mask);
	r->idle = 0;
	r->told = p->told;
	return ptc_segment_leave(r);
}

int ptc_segment_step_items(struct ptc_replay *r)
{
	struct ptc_piece *p = &r->piece;
	const struct ptc_made_step *s = &p->steps[p->next_step];
	const size_t n = s->n - p->next;

	if (p->next_step == p->land_step) {
		ptc_trail_land(&r->trail, p->land);
		r->trail.last.valid = false;
		p->land_step = SIZE_MAX;
	}
	if (n) {
		if (!ptc_out_reserve(&r->out, n))
			return 0;
		memcpy(r->out.items + r->out.n, p->its + p->next, n * sizeof(*p->its));
		r->out.n += n;
		ptc_out_saw(&r->out, s->newest);
		p->next = s->n;
	}
	r->now = s->now;
	r->off = s->off;
	if (p->land_step == SIZE_MAX) {
		/* No item to come is earlier than s->low. */
		r->trail.last.valid = s->low < s->now;
		r->trail.last.time = s->low;
	}
	return ++p->next_step < p->nsteps ? 0 : finish(r);
}
