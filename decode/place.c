/* SPDX-License-Identifier: MIT */
#include "decode/place.h"

#include <string.h>

#include "decode/exact.h"

enum {
	SKID = 16,	   /* steps in front of those of its time that a stack may end at, too */
	HISTORY = 8,	   /* steps more than a stack has entries: some may be missing in it */
	LAST_BLOCK = 4096, /* how far an ip may be behind a transfer that no other follows */
};

/*
 * Steps from the newest back. A step's time is that of a packet in front of it, so that the last
 * steps of an earlier time can still be under way.
 */
struct walk {
	uint64_t since, group;
	size_t history, skid, most; /* wanted ones of earlier times */
};

static struct walk walk_of(const struct ptc_place *p, size_t n)
{
	return (struct walk){ .since = p->since, .group = p->since, .most = n + SKID + HISTORY };
}

static bool is_done(const struct walk *w)
{
	return w->history >= w->most;
}

/* Can a stack end at @s, the next older step, by its time? */
static bool is_end(struct walk *w, const struct ptc_step *s)
{
	if (s->time < w->since && w->group == w->since)
		w->group = s->time;
	return s->time >= w->group || w->skid < SKID;
}

static void count(struct walk *w, const struct ptc_step *s, bool wanted)
{
	if (s->time < w->group && wanted) {
		w->skid++;
		w->history++;
	}
}

/* May the sample's @ip be between step @i and the next one? */
static inline bool fits(const struct ptc_recent_thread *t, size_t i, uint64_t ip)
{
	const struct ptc_step *s = &t->steps[i];
	const bool bounded = i + 1 < t->n && t->steps[i + 1].from;

	if (!s->to || ip < s->to)
		return false;
	return bounded ? ip <= t->steps[i + 1].from : ip - s->to < LAST_BLOCK;
}

static bool is_wanted(const struct ptc_place *p, const struct ptc_step *s)
{
	return !(s->flags & PTC_STEP_GAP) && ptc_wants_step(&p->wants, s);
}

/* May it be between wanted step @i and the next one that is wanted? */
static bool fits_behind(const struct ptc_place *p, const struct ptc_recent_thread *t, size_t i)
{
	for (; !fits(t, i, p->ip); i++)
		if (i + 1 == t->n || t->steps[i + 1].flags & PTC_STEP_GAP ||
		    is_wanted(p, &t->steps[i + 1]))
			return false;
	return true;
}

struct finding {
	const struct ptc_place *p;
	const struct ptc_recent_thread *t;
	const struct ptc_align_in *in;
	struct ptc_align_entry *entries;
	struct ptc_exact *exact;
	size_t oldest_end; /* the step */
	size_t places;
};

static void add_place(struct finding *f)
{
	const size_t end = ptc_exact_at(f->exact, 0);

	if (end < f->oldest_end || !fits_behind(f->p, f->t, end))
		return;
	if (!f->places++)
		ptc_exact_read(f->exact, f->in, f->t->steps, f->entries);
}

static bool feed(struct finding *f, size_t i)
{
	const struct ptc_step *s = &f->t->steps[i];
	const bool wanted = is_wanted(f->p, s);

	if (s->flags & PTC_STEP_GAP)
		ptc_exact_cut(f->exact);
	else if (wanted && ptc_exact_feed(f->exact, s, i))
		add_place(f);
	return wanted;
}

/* Step @i and those in front of it, to @first, as long as the stack may be there. Returns the last
 * one: this is done for some hundred steps of each sample. */
static size_t follow(struct finding *f, size_t first, size_t i)
{
	const struct ptc_wants wants = f->p->wants;
	const struct ptc_step *steps = f->t->steps;
	struct ptc_exact *x = f->exact;
	size_t state = 0;

	for (;; i--) {
		const struct ptc_step *s = &steps[i];

		if (ptc_wants_step(&wants, s)) {
			state = ptc_exact_next(x, state, s);
			x->at[x->fed++ % PTC_ALIGN_ENTRIES] = i;
			if (state == x->n)
				add_place(f);
		} else if (s->flags & PTC_STEP_GAP) {
			state = 0;
		}
		if (!state || i == first)
			break;
	}
	x->state = state;
	return i;
}

/* All steps from @first on, at each of which the stack can end. Nothing begins but at a step that
 * is the newest entry, so that most are not even looked at. */
static void find_from(struct finding *f, size_t first)
{
	const struct ptc_branch *e = f->in->entries;
	const uint8_t key = ptc_recent_key(e->from, e->to);
	const uint8_t *keys = f->t->keys;
	size_t i = f->t->n;

	f->oldest_end = first;
	while (i > first) {
		const uint8_t *at = memrchr(keys + first, key, i - first);

		if (!at)
			break;
		i = (size_t)(at - keys);
		if (!ptc_exact_is_same(e, &f->t->steps[i]))
			continue;
		i = follow(f, first, i);
	}
}

bool ptc_place_exact(const struct ptc_place *p, const struct ptc_recent_thread *t,
		     const struct ptc_align_in *in, struct ptc_align_entry *ret_entries,
		     struct ptc_align_result *ret)
{
	struct ptc_exact exact;
	struct finding f = { .p = p, .t = t, .in = in, .entries = ret_entries, .exact = &exact };
	struct walk w = walk_of(p, in->n);
	size_t i = ptc_recent_since(t, p->since);

	if (!in->n)
		return false;
	ptc_exact_init(&exact, in->entries, in->n);
	find_from(&f, i);
	while (i && !is_done(&w)) {
		const struct ptc_step *s = &t->steps[--i];

		if (is_end(&w, s))
			f.oldest_end = i;
		count(&w, s, feed(&f, i));
	}
	if (f.places)
		*ret = (struct ptc_align_result){ .candidates = f.places, .fits = true };
	return f.places;
}

/* Shifts, as bits, of the places that end at each of the last steps that were fed. */
struct shifting {
	struct ptc_exact exact;
	uint32_t at[PTC_ALIGN_ENTRIES];
	uint32_t now; /* by how much a stack that ends at the next step is in front of the ip */
	uint32_t all; /* of the places that were found */
	size_t oldest_end;
};

static bool feed_shifting(struct shifting *f, const struct ptc_place *p,
			  const struct ptc_recent_thread *t, size_t i)
{
	const struct ptc_step *s = &t->steps[i];

	if (s->flags & PTC_STEP_GAP) {
		ptc_exact_cut(&f->exact);
		f->now = 0;
		return false;
	}
	f->now |= fits(t, i, p->ip);
	if (!is_wanted(p, s))
		return false;
	f->at[f->exact.fed % PTC_ALIGN_ENTRIES] = f->now;
	f->now <<= 1;
	if (ptc_exact_feed(&f->exact, s, i) && ptc_exact_at(&f->exact, 0) >= f->oldest_end)
		f->all |= f->at[(f->exact.fed - f->exact.n) % PTC_ALIGN_ENTRIES];
	return true;
}

uint32_t ptc_place_shifts(const struct ptc_place *p, const struct ptc_recent_thread *t,
			  const struct ptc_align_in *in)
{
	struct walk w = walk_of(p, in->n);
	struct shifting f = { .oldest_end = 0 };
	size_t i = t->n;

	if (!in->n)
		return 0;
	ptc_exact_init(&f.exact, in->entries, in->n);
	while (i && !is_done(&w)) {
		const struct ptc_step *s = &t->steps[--i];

		if (is_end(&w, s))
			f.oldest_end = i;
		else if (!f.exact.state)
			break;
		count(&w, s, feed_shifting(&f, p, t, i));
	}
	return f.all;
}

/* Flags of step @i by the sample alone; what is not wanted hands its own on to the one in front. */
static inline void set_flags(const struct ptc_place *p, struct ptc_recent_thread *t, size_t i,
			     bool is_end)
{
	struct ptc_step *s = &t->steps[i];
	const uint8_t next = i + 1 < t->n ? t->steps[i + 1].flags : PTC_STEP_WANTED;
	uint8_t flags = 0;

	if (s->flags & PTC_STEP_GAP) {
		s->flags = PTC_STEP_GAP;
		return;
	}
	if (ptc_wants_step(&p->wants, s))
		flags = PTC_STEP_WANTED;
	if (is_end)
		flags |= PTC_STEP_END;
	if (fits(t, i, p->ip))
		flags |= PTC_STEP_FITS;
	if (!(next & (PTC_STEP_WANTED | PTC_STEP_GAP)))
		flags |= next & (PTC_STEP_END | PTC_STEP_FITS);
	s->flags = flags;
}

size_t ptc_place_steps(const struct ptc_place *p, struct ptc_recent_thread *t, size_t n)
{
	struct walk w = walk_of(p, n);
	size_t i = t->n;

	while (i && !is_done(&w)) {
		const struct ptc_step *s = &t->steps[--i];

		set_flags(p, t, i, is_end(&w, s));
		count(&w, s, s->flags & PTC_STEP_WANTED);
	}
	return i;
}
