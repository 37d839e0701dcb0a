/* SPDX-License-Identifier: MIT */
#include "decode/lbr/candidates.h"

#include <string.h>

#include "decode/lbr/kmp.h"

enum {
	SKID = 16,	   /* steps in front of the sample's time at which a stack may also end */
	HISTORY = 8,	   /* extra steps beyond the entries of a stack: entries may be missing */
	LAST_BLOCK = 4096, /* how far an ip may be behind the last known branch */
};

/*
 * A walk over steps from the newest back. A step has the time of a packet in front of it, so the
 * last steps of an earlier time may still be under way.
 */
struct walk {
	uint64_t since, group;
	size_t history, skid, most; /* counts of wanted steps of earlier times */
};

static struct walk walk_of(const struct ptc_place *p, size_t n)
{
	return (struct walk){ .since = p->since, .group = p->since, .most = n + SKID + HISTORY };
}

static bool is_done(const struct walk *w)
{
	return w->history >= w->most;
}

/* Returns true if a stack can end at @s, the next older step, by its time. */
static bool is_end(struct walk *w, const struct ptc_step *s)
{
	if (s->time < w->since && w->group == w->since)
		w->group = s->time;
	return s->time >= w->group || w->skid < SKID;
}

static void count_skid(struct walk *w, const struct ptc_step *s, bool wanted)
{
	if (s->time < w->group && wanted) {
		w->skid++;
		w->history++;
	}
}

/* Returns true if the sample's @ip may be between step @i and the next one. */
static inline bool fits(const struct ptc_thread_history_thread *t, size_t i, uint64_t ip)
{
	const struct ptc_step *s = &t->steps[i];
	const bool bounded = i + 1 < t->n && t->steps[i + 1].from;

	if (!s->to || ip < s->to)
		return false;
	return bounded ? ip <= t->steps[i + 1].from : ip - s->to < LAST_BLOCK;
}

static bool lbr_records_step(const struct ptc_place *p, const struct ptc_step *s)
{
	return !(s->flags & PTC_STEP_GAP) && ptc_wants_step(&p->wants, s);
}

/* Returns true if the sample's ip may be between wanted step @i and the next wanted one. */
static bool fits_behind(const struct ptc_place *p, const struct ptc_thread_history_thread *t,
			size_t i)
{
	for (; !fits(t, i, p->ip); i++)
		if (i + 1 == t->n || t->steps[i + 1].flags & PTC_STEP_GAP ||
		    lbr_records_step(p, &t->steps[i + 1]))
			return false;
	return true;
}

struct finding {
	const struct ptc_place *p;
	const struct ptc_thread_history_thread *t;
	const struct ptc_align_in *in;
	struct ptc_align_entry *entries;
	struct ptc_kmp *exact;
	size_t oldest_end; /* the oldest step at which a stack may end */
	size_t places;
};

static void add_place(struct finding *f)
{
	const size_t end = ptc_kmp_at(f->exact, 0);

	if (end < f->oldest_end || !fits_behind(f->p, f->t, end))
		return;
	if (!f->places++)
		ptc_kmp_read(f->exact, f->in, f->t->steps, f->entries);
}

static bool feed(struct finding *f, size_t i)
{
	const struct ptc_step *s = &f->t->steps[i];
	const bool wanted = lbr_records_step(f->p, s);

	if (s->flags & PTC_STEP_GAP)
		ptc_kmp_cut(f->exact);
	else if (wanted && ptc_kmp_feed(f->exact, s, i))
		add_place(f);
	return wanted;
}

/*
 * Feeds step @i and older ones, down to @first, as long as the stack may match. Returns the last
 * step fed. This runs for some hundred steps of each sample.
 */
static size_t feed_matching_steps(struct finding *f, size_t first, size_t i)
{
	const struct ptc_wants wants = f->p->wants;
	const struct ptc_step *steps = f->t->steps;
	struct ptc_kmp *x = f->exact;
	size_t state = 0;

	for (;; i--) {
		const struct ptc_step *s = &steps[i];

		if (ptc_wants_step(&wants, s)) {
			state = ptc_kmp_next(x, state, s);
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

/*
 * Tries all steps from @first on; a stack can end at any of them. A match begins only at a step
 * equal to the newest entry, so most steps are skipped.
 */
static void find_from(struct finding *f, size_t first)
{
	const struct ptc_branch *e = f->in->entries;
	const uint8_t key = ptc_thread_history_key(e->from, e->to);
	const uint8_t *keys = f->t->keys;
	size_t i = f->t->n;

	f->oldest_end = first;
	while (i > first) {
		const uint8_t *at = memrchr(keys + first, key, i - first);

		if (!at)
			break;
		i = (size_t)(at - keys);
		if (!ptc_kmp_is_same(e, &f->t->steps[i]))
			continue;
		i = feed_matching_steps(f, first, i);
	}
}

bool ptc_place_exact(const struct ptc_place *p, const struct ptc_thread_history_thread *t,
		     const struct ptc_align_in *in, struct ptc_align_entry *ret_entries,
		     struct ptc_align_result *ret)
{
	struct ptc_kmp exact;
	struct finding f = { .p = p, .t = t, .in = in, .entries = ret_entries, .exact = &exact };
	struct walk w = walk_of(p, in->n);
	size_t i = ptc_thread_history_since(t, p->since);

	if (!in->n)
		return false;
	ptc_kmp_init(&exact, in->entries, in->n);
	find_from(&f, i);
	while (i && !is_done(&w)) {
		const struct ptc_step *s = &t->steps[--i];

		if (is_end(&w, s))
			f.oldest_end = i;
		count_skid(&w, s, feed(&f, i));
	}
	if (f.places)
		*ret = (struct ptc_align_result){ .candidates = f.places, .fits = true };
	return f.places;
}

/* The possible shifts, as bits, for each of the last steps fed. */
struct shifting {
	struct ptc_kmp exact;
	uint32_t at[PTC_ALIGN_ENTRIES];
	uint32_t now; /* shifts of a stack that ends at the next step */
	uint32_t all; /* of all matching positions */
	size_t oldest_end;
};

static bool feed_shifting(struct shifting *f, const struct ptc_place *p,
			  const struct ptc_thread_history_thread *t, size_t i)
{
	const struct ptc_step *s = &t->steps[i];

	if (s->flags & PTC_STEP_GAP) {
		ptc_kmp_cut(&f->exact);
		f->now = 0;
		return false;
	}
	f->now |= fits(t, i, p->ip);
	if (!lbr_records_step(p, s))
		return false;
	f->at[f->exact.fed % PTC_ALIGN_ENTRIES] = f->now;
	f->now <<= 1;
	if (ptc_kmp_feed(&f->exact, s, i) && ptc_kmp_at(&f->exact, 0) >= f->oldest_end)
		f->all |= f->at[(f->exact.fed - f->exact.n) % PTC_ALIGN_ENTRIES];
	return true;
}

uint32_t ptc_place_shifts(const struct ptc_place *p, const struct ptc_thread_history_thread *t,
			  const struct ptc_align_in *in)
{
	struct walk w = walk_of(p, in->n);
	struct shifting f = { .oldest_end = 0 };
	size_t i = t->n;

	if (!in->n)
		return 0;
	ptc_kmp_init(&f.exact, in->entries, in->n);
	while (i && !is_done(&w)) {
		const struct ptc_step *s = &t->steps[--i];

		if (is_end(&w, s))
			f.oldest_end = i;
		else if (!f.exact.state)
			break;
		count_skid(&w, s, feed_shifting(&f, p, t, i));
	}
	return f.all;
}

/*
 * Sets the flags of step @i from the sample alone. An unwanted step passes its flags on to the step
 * in front of it.
 */
static inline void set_flags(const struct ptc_place *p, struct ptc_thread_history_thread *t,
			     size_t i, bool is_end)
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

size_t ptc_place_steps(const struct ptc_place *p, struct ptc_thread_history_thread *t, size_t n)
{
	struct walk w = walk_of(p, n);
	size_t i = t->n;

	while (i && !is_done(&w)) {
		const struct ptc_step *s = &t->steps[--i];

		set_flags(p, t, i, is_end(&w, s));
		count_skid(&w, s, s->flags & PTC_STEP_WANTED);
	}
	return i;
}
