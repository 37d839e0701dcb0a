/* SPDX-License-Identifier: MIT */
#include "decode/segment/work_unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/*
 * FIRST_STEPS: steps at the beginning that are made one by one, to find a seam. ITEMS_MAX: limit of
 * items in a work unit, for any trace.
 */
enum { FIRST_STEPS = 256, ITEMS_MAX = 1 << 20 };

void ptc_slice_worker_release(struct ptc_slice_worker *w)
{
	size_t i;

	for (i = 0; i < PTC_SLICE_SPACES; i++)
		ptc_ipt_forget_images(&w->spaces[i]);
	ptc_made_copy_release(&w->copy);
}

struct ptc_slice *ptc_slice_new(void)
{
	struct ptc_slice *s = malloc(sizeof(*s));

	if (s)
		memset(s, 0, offsetof(struct ptc_slice, seams));
	return s;
}

void ptc_slice_free(struct ptc_slice *s)
{
	if (!s)
		return;
	ptc_replay_free(s->replay);
	ptc_notes_release(&s->notes);
	ptc_made_list_release(&s->made);
	ptc_psbs_release(&s->psbs);
	free(s->steps);
	free(s);
}

/*
 * Returns a copy of @v that can have images of this thread: the copy used before, if it still
 * exists.
 */
static struct ptc_addrspace *space_of(struct ptc_slice_worker *w, const struct ptc_view *v)
{
	size_t i, oldest = 0;

	w->uses++;
	for (i = 0; i < PTC_SLICE_SPACES; i++) {
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

/*
 * While the time stays the same, steps are merged. But sideband records of a time are applied at
 * the first step of that time, so the step behind it must stay separate.
 */
static bool goes_with_last(const struct ptc_slice *s, uint64_t now, size_t n)
{
	const struct ptc_slice_step *last = s->steps + s->nsteps - 1;

	return s->nsteps > s->napart + 1 && last->at.now == now && last[-1].at.now == now &&
	       n - last[-1].n <= s->batch;
}

static bool add_step(struct ptc_slice *s, bool apart)
{
	const struct ptc_replay_at at = ptc_replay_where(s->replay);
	const struct ptc_out *o = ptc_replay_out(s->replay);
	const struct ptc_slice_step step = { at, o->n, o->newest };

	if (!apart && goes_with_last(s, at.now, o->n)) {
		s->steps[s->nsteps - 1] = step;
		return true;
	}
	if (!ptc_grow(&s->steps, &s->steps_cap, s->nsteps + 1, sizeof(*s->steps)))
		return false;
	s->steps[s->nsteps++] = step;
	if (apart)
		s->napart = s->nsteps;
	return true;
}

static void add_seam(struct ptc_slice *s)
{
	struct ptc_slice_seam *seam = &s->seams[s->nseams];

	/*
	 * Only behind the work unit's own begin, without a failure since: the cost of a failure is
	 * counted with the work unit.
	 */
	if (!ptc_replay_seam(s->replay, &seam->seam) || seam->seam.from != s->conf.start.off ||
	    seam->seam.spot.span != s->conf.start.span)
		return;
	seam->stats = s->stats;
	seam->steps = s->nsteps;
	seam->n = ptc_replay_out(s->replay)->n;
	s->nseams++;
}

struct walk {
	const struct ptc_context *now;
	uint64_t time;
	size_t steps;
};

static void use_context(struct ptc_slice *s, struct ptc_slice_worker *w, struct walk *k)
{
	const struct ptc_context *end = s->contexts.v + s->contexts.n, *c = k->now;

	if (!c)
		c = ptc_context_at(&s->contexts, k->time);
	while (c + 1 < end && c[1].from_ns <= k->time)
		c++;
	if (c == k->now)
		return;
	k->now = c;
	ptc_replay_set_context(s->replay, c->pid, c->tid, c->cpu, space_of(w, c->view));
}

/* Makes one step. Returns false if no other step follows. */
static bool decode_unit_step(struct ptc_slice *s, struct ptc_slice_worker *w, struct walk *k)
{
	const bool apart = k->steps++ < FIRST_STEPS && s->nseams < PTC_SLICE_SEAMS;
	const uint64_t time = ptc_replay_time(s->replay);
	struct ptc_err err;
	int r;

	/* Times out of order, or behind the horizon, are decoded in their turn. */
	if (k->now && (time < k->time || time > s->horizon))
		return false;
	/* The PSB had a wrong time: the thread that really ran then is not known here. */
	s->useless = k->now && time < s->contexts.v[0].from_ns;
	if (s->useless)
		return false;
	k->time = time;
	use_context(s, w, k);
	/* All items wait here, so the limit must allow one batch more. */
	r = apart ? ptc_replay_step(s->replay, &err) :
		    ptc_replay_steps(s->replay, ptc_replay_out(s->replay)->n + s->batch, &err);
	s->over = !r;
	s->useless = r < 0 || !add_step(s, apart);
	if (s->useless || s->over || ptc_replay_is_stuck(s->replay))
		return false;
	if (apart)
		add_seam(s);
	return ptc_spot_is_before(ptc_replay_spot(s->replay), s->stop) &&
	       ptc_replay_out(s->replay)->n < ITEMS_MAX;
}

static bool get_replay(struct ptc_slice *s, struct ptc_replay *replay)
{
	struct ptc_err err;

	s->replay = replay;
	if (!replay)
		return ptc_replay_new(&s->conf, &s->replay, &err) >= 0;
	ptc_replay_renew(replay, &s->conf);
	return true;
}

void ptc_slice_run(struct ptc_slice *s, struct ptc_slice_worker *w, struct ptc_replay *replay,
		   const atomic_bool *cancelled)
{
	struct walk k = { .time = 0 };

	s->notes.apart = true;
	s->conf.ipt = w->ipt;
	s->conf.stats = &s->stats;
	s->conf.notes = &s->notes;
	s->conf.ahead = true;
	if (!get_replay(s, replay)) {
		s->useless = true;
		return;
	}
	ptc_replay_set_stop(s->replay, s->stop);
	/*
	 * Keeps space in front for items that wait in the queue when the work unit is joined: a
	 * batch, and as many as a step may list beyond a batch.
	 */
	ptc_out_keep_front(ptc_replay_out(s->replay), 2 * s->batch);
	while (!atomic_load_explicit(cancelled, memory_order_relaxed) && decode_unit_step(s, w, &k))
		;
}
