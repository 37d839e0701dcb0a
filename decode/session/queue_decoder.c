/* SPDX-License-Identifier: MIT */
#include "decode/session/queue_decoder.h"

#include <string.h>

#include "base/err.h"
#include "decode/segment/work_unit.h"
#include "decode/segment/worker_pool.h"
#include "decode/session/decoder.h"

static const struct ptc_spot NOWHERE = { SIZE_MAX, SIZE_MAX };

struct ptc_replay_conf ptc_lane_conf(struct ptc_decode *d, struct ptc_lane *l)
{
	return (struct ptc_replay_conf){
		.opts = &d->opts,
		.resync = d->resync,
		.ipt = &d->ipt,
		.engine = d->engine,
		.clock = d->clock,
		.stream = &l->stream,
		.psbs = &l->psbs,
		.start = l->start,
		.marks = l->marks,
		.nmarks = l->nmarks,
		.snapshots = l->snapshots,
		.queue = l->idx,
		.stats = &d->stats,
		.notes = &d->notes,
		.sums = &l->sums,
		.runs = d->runs,
		.from_ns = d->pick.from,
		.to_ns = d->pick.to == UINT64_MAX ? 0 : d->pick.to,
	};
}

struct ptc_replay_at ptc_lane_where(const struct ptc_lane *l)
{
	return l->playing ? l->place : ptc_replay_where(l->replay);
}

uint64_t ptc_lane_time(const struct ptc_lane *l)
{
	if (!l->playing)
		return ptc_replay_time(l->replay);
	return l->place.now == PTC_NO_TIME ? 0 : l->place.now;
}

uint64_t ptc_lane_low(const struct ptc_lane *l)
{
	return l->playing ? l->place.low : ptc_replay_low(l->replay);
}

void ptc_lane_lost(struct ptc_lane *l, uint64_t time)
{
	const struct ptc_out *o = ptc_replay_out(l->replay);
	const size_t before = o->n;

	ptc_replay_lost(l->replay, ptc_lane_where(l), time);
	if (l->playing && o->n > before)
		l->shift++;
}

/* Show the items of the work unit up to those of @step. */
static void show_items_of_step(struct ptc_lane *l, const struct ptc_slice_step *step)
{
	struct ptc_out *o = ptc_replay_out(l->replay);
	const size_t all = o->n + o->hidden;

	o->n = step->n + l->shift;
	o->hidden = all - o->n;
	ptc_out_saw(o, step->newest);
}

/* Play the next step of the work unit, which has one. */
static int play(struct ptc_decode *d, struct ptc_lane *l)
{
	struct ptc_slice *s = l->playing;
	const struct ptc_slice_step *next = &s->steps[l->step++];
	bool over;

	l->place = next->at;
	show_items_of_step(l, next);
	if (l->step < s->nsteps)
		return 1;
	over = s->over;
	l->playing = NULL;
	ptc_plan_done(d->plan, s);
	return !over;
}

/* Put the waiting items of @from in front of the items of @to, which shows none yet. */
static bool move_items(struct ptc_lane *l, const struct ptc_out *from, struct ptc_out *to)
{
	const size_t left = from->n - from->head, all = to->n + to->hidden;

	if (left > to->n) {
		if (!ptc_out_reserve(to, left + to->hidden))
			return false;
		memmove(to->items + left, to->items + to->n, to->hidden * sizeof(*to->items));
		l->shift = left - to->n;
		to->n = left;
		to->hidden = all + l->shift - left;
	}
	to->head = to->n - left;
	ptc_out_saw(to, from->newest);
	if (left)
		memcpy(to->items + to->head, from->items + from->head, left * sizeof(*to->items));
	return ptc_out_adopt(to, to->items + to->head, left, from);
}

static void add_stats(struct ptc_decode_stats *to, const struct ptc_decode_stats *all,
		      const struct ptc_decode_stats *before)
{
	size_t i;

	to->insns += all->insns - before->insns;
	to->branches += all->branches - before->branches;
	for (i = 0; i < PTC_GAP_COUNT; i++)
		to->gaps[i] += all->gaps[i] - before->gaps[i];
}

/* Go on with the first planned work unit, from @seam on. */
static bool join(struct ptc_decode *d, struct ptc_lane *l, const struct ptc_slice_seam *seam)
{
	struct ptc_slice *s = l->planned[0];
	struct ptc_replay *old = l->replay;
	struct ptc_out *out = ptc_replay_out(s->replay);
	const struct ptc_replay_at place = ptc_replay_where(old);

	l->shift = 0;
	out->hidden = out->n - seam->n;
	out->n = seam->n;
	out->newest = 0; /* none of these items is visible */
	if (!move_items(l, ptc_replay_out(old), out))
		return false;
	add_stats(&d->stats, &s->stats, &seam->stats);
	ptc_notes_take(&d->notes, &s->notes);
	ptc_replay_lend(s->replay, &d->ipt, &d->stats, &d->notes);
	ptc_jobs_give_replay(d->plan->jobs, old);
	l->nplanned--;
	memmove(l->planned, l->planned + 1, l->nplanned * sizeof(struct ptc_slice *));
	l->replay = s->replay;
	l->writer = NULL;
	s->replay = NULL;
	l->playing = s;
	l->step = seam->steps;
	l->place = place;
	ptc_decode_set_context(d, l);
	d->joins++;
	return true;
}

/* Returns the seam where @s stood as the replay stands now. NULL: there is none. */
static const struct ptc_slice_seam *meet(const struct ptc_decode *d, const struct ptc_lane *l,
					 const struct ptc_slice *s)
{
	struct ptc_seam here;
	size_t i;

	/* If time went back, records of later times have been applied: then no seam fits. */
	if (s->useless || (d->clock.valid && d->applied_ns > ptc_replay_time(l->replay)) ||
	    !ptc_replay_seam(l->replay, &here))
		return NULL;
	for (i = 0; i < s->nseams; i++)
		if (s->seams[i].steps < s->nsteps && ptc_seam_agrees(&here, &s->seams[i].seam))
			return &s->seams[i];
	return NULL;
}

static bool can_meet(const struct ptc_lane *l, const struct ptc_slice *s)
{
	return !s->useless && s->nseams &&
	       !ptc_spot_is_before(s->seams[s->nseams - 1].seam.spot, ptc_replay_spot(l->replay));
}

/* The replay has come to the beginning of the next work unit. */
static int step_at_seam(struct ptc_decode *d, struct ptc_lane *l, struct ptc_err *err)
{
	struct ptc_slice *s = l->planned[0];
	const struct ptc_slice_seam *seam;

	ptc_jobs_await(d->plan->jobs, s);
	seam = meet(d, l, s);
	if (seam && join(d, l, seam))
		return play(d, l);
	if (!can_meet(l, s)) {
		ptc_plan_drop(d->plan, l);
		return ptc_replay_steps(l->replay, 0, err);
	}
	return ptc_replay_step(l->replay, err);
}

static int step_in_order(struct ptc_decode *d, struct ptc_lane *l, struct ptc_err *err)
{
	const struct ptc_spot next = l->nplanned ? l->planned[0]->conf.start : NOWHERE;

	if (!ptc_spot_is_before(ptc_replay_spot(l->replay), next))
		return step_at_seam(d, l, err);
	ptc_replay_set_stop(l->replay, next);
	return ptc_replay_steps(l->replay, PTC_LANE_BATCH, err);
}

/*
 * Returns the work unit that the replay is in, whose segments it may take, or NULL. Drops passed
 * work units.
 */
static struct ptc_slice *slice_here(struct ptc_decode *d, struct ptc_lane *l)
{
	const struct ptc_spot at = ptc_replay_spot(l->replay);

	while (l->nplanned && !ptc_spot_is_before(at, l->planned[0]->stop)) {
		ptc_jobs_await(d->plan->jobs, l->planned[0]);
		ptc_replay_set_made(l->replay, NULL);
		l->serving = NULL;
		ptc_plan_drop(d->plan, l);
	}
	return l->nplanned && !ptc_spot_is_before(at, l->planned[0]->conf.start) ? l->planned[0] :
										   NULL;
}

/* The second engine makes segments ahead of their turn. Everything else is done in turn. */
static int step_with_pieces(struct ptc_decode *d, struct ptc_lane *l, struct ptc_err *err)
{
	struct ptc_slice *s = slice_here(d, l);

	if (s && s != l->serving) {
		if (!ptc_jobs_take(d->plan->jobs, s))
			return PTC_LANE_PASS;
		ptc_jobs_lend_room(d->plan->jobs, ptc_replay_out(l->replay), &l->writer);
		ptc_replay_set_made(l->replay, &s->made);
		l->serving = s;
	}
	ptc_replay_set_stop(l->replay, s	   ? s->stop :
				       l->nplanned ? l->planned[0]->conf.start :
						     NOWHERE);
	return ptc_replay_steps(l->replay, PTC_LANE_BATCH, err);
}

int ptc_lane_steps(struct ptc_decode *d, struct ptc_lane *l, struct ptc_err *err)
{
	if (l->playing)
		return play(d, l);
	if (!d->plan)
		return ptc_replay_steps(l->replay, PTC_LANE_BATCH, err);
	if (l->nplanned ? l->planned[0]->pieces : d->plan->pieces)
		return step_with_pieces(d, l, err);
	if (!ptc_jobs_take_back(d->plan->jobs))
		return PTC_LANE_PASS;
	ptc_replay_leave_engine(l->replay);
	return step_in_order(d, l, err);
}
