/* SPDX-License-Identifier: MIT */
/* Decodes a segment with libipt before its turn: a thread keeps a replay for that. */
#include <stdlib.h>

#include "base/grow.h"
#include "decode/libipt/replay_state.h"
#include "decode/segment/work_unit.h"

/* Limit of items in a segment, for any trace. */
enum { ITEMS_MAX = 1 << 20 };

/*
 * Returns a copy of @v that has images of this thread. Valid until the next calls. Prefers the copy
 * that was used before.
 */
static struct ptc_addrspace *copy_view(struct ptc_work_unit_worker *w, const struct ptc_view *v)
{
	size_t i, oldest = 0;

	w->uses++;
	for (i = 0; i < PTC_WORK_UNIT_SPACES; i++) {
		if (w->spaces[i].view == v->as.view) {
			oldest = i;
			break;
		}
		if (w->used[i] < w->used[oldest])
			oldest = i;
	}
	w->used[oldest] = w->uses;
	if (w->spaces[oldest].view != v->as.view) {
		ptc_ipt_forget_images(&w->spaces[oldest]);
		w->spaces[oldest] = v->as;
	}
	/* The view with this number may have moved. */
	w->spaces[oldest].ranges = v->as.ranges;
	w->spaces[oldest].patches = v->as.patches;
	w->spaces[oldest].kernel = v->as.kernel;
	return &w->spaces[oldest];
}

static void use_context(struct ptc_work_unit *s, struct ptc_work_unit_worker *w, uint64_t time)
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
	w->replay->code.changed |= !w->now || w->now->view != c->view;
	w->now = c;
	ptc_replay_set_context(w->replay, c->pid, c->tid, c->cpu, copy_view(w, c->view));
}

/* Begins at the PSB at @at, unless the replay stands there. Returns false if that fails. */
static bool go_to(struct ptc_work_unit *s, struct ptc_work_unit_worker *w, struct ptc_spot at)
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
	    w->replay->span != at.span || w->replay->place.from != at.off)
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
static bool goes_with_last(const struct ptc_work_unit *s, const struct ptc_result *m,
			   const struct ptc_result_step *step)
{
	const struct ptc_result_step *last;

	if (m->nsteps < 2)
		return false;
	last = s->made.room.steps + s->made.room.nsteps - 1;
	return last->now == step->now && last[-1].now == step->now &&
	       step->n - last[-1].n <= s->batch;
}

/* @ran: instructions in front of the segment. */
static bool add_step(struct ptc_work_unit *s, const struct ptc_replay *r, struct ptc_result *m,
		     uint64_t ran)
{
	struct ptc_result_room *room = &s->made.room;
	const struct ptc_result_step step = { .now = r->time.now,
					      .low = ptc_replay_low(r),
					      .off = r->place.off,
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
static bool run(struct ptc_work_unit *s, struct ptc_work_unit_worker *w, struct ptc_result *m)
{
	struct ptc_replay *r = w->replay;
	const uint64_t ran = r->out.ran;
	size_t from;
	struct ptc_err err;
	uint64_t time;

	r->trail.landed = false;
	do {
		time = ptc_replay_time(r);
		/* Times out of order, or behind the horizon, are decoded in their turn. */
		if (time < w->time || time > s->known.upto)
			return false;
		use_context(s, w, time);
		from = r->place.from;
		if (ptc_replay_steps(r, r->out.n + s->batch, &err) <= 0 || r->stuck ||
		    r->span != m->spot.span || r->out.n - m->recs > ITEMS_MAX ||
		    !add_step(s, r, m, ran))
			return false;
	} while (r->place.from == from || !ptc_replay_is_at_psb(r));
	return true;
}

/* Moves the notes of the segment, if any, to *@ret. Returns false if out of memory. */
static bool take_notes(struct ptc_work_unit_worker *w, struct ptc_notes **ret)
{
	if (!ptc_notes_are_any(&w->notes))
		return true;
	*ret = malloc(sizeof(**ret));
	if (!*ret)
		return false;
	**ret = w->notes;
	w->notes = (struct ptc_notes){ .apart = true };
	return true;
}

/* Lets @o append to the items of @room. */
static void lend_items(struct ptc_out *o, struct ptc_result_room *room)
{
	struct ptc_out_room own = ptc_out_swap_room(
		o, (struct ptc_out_room){ .items = room->items, .cap = room->items_cap });

	ptc_out_room_release(&own);
	o->n = room->nitems;
}

static void take_items_back(struct ptc_out *o, struct ptc_result_room *room)
{
	const size_t n = o->n;
	const struct ptc_out_room all = ptc_out_swap_room(o, (struct ptc_out_room){ .cap = 0 });

	room->items = all.items;
	room->items_cap = all.cap;
	room->nitems = n;
}

size_t ptc_segment_make_items(struct ptc_work_unit *s, struct ptc_work_unit_worker *w,
			      struct ptc_spot at, const char *why)
{
	struct ptc_result_room *room = &s->made.room;
	struct ptc_result *m;
	struct ptc_out *o;

	ptc_notes_release(&w->notes);
	w->notes = (struct ptc_notes){ .apart = true };
	if (!go_to(s, w, at)) {
		w->at.span = SIZE_MAX;
		return SIZE_MAX;
	}
	m = ptc_result_list_add(&s->made);
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
	if (run(s, w, m) && take_notes(w, &m->notes)) {
		ptc_replay_end_made(w->replay, m);
		m->n = o->n - m->recs;
		m->stats = w->stats;
		w->at = (struct ptc_spot){ m->spot.span, m->end };
	} else {
		room->nsteps = m->steps;
		o->n = m->recs;
		ptc_result_list_drop(&s->made);
		m = NULL;
		w->at.span = SIZE_MAX;
	}
	take_items_back(o, room);
	return m ? m->end : SIZE_MAX;
}
