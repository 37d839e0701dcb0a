/* SPDX-License-Identifier: MIT */
#include "decode/lbr/compare_calls.h"

#include <string.h>

#include "ptcap/error.h"

enum {
	OLDER = 8,  /* calls beyond the entries of a stack: some may be missing in it */
	BACK = 256, /* steps by which the next sample may be earlier in the trace */
	/* places where a stack that is nowhere exact is read, at most: the last ones */
	PLACES = 64,
};

struct looking {
	struct ptc_compare_calls *c;
	struct ptc_align *a;
	const struct ptc_thread_history_thread *t;
	size_t first;
	uint8_t flags; /* flags that make a step a place */
	size_t places; /* places of this pass so far */
	size_t skip;   /* places that are skipped first */
	struct ptc_align_in *in;
	struct ptc_align_entry *entries; /* of the cheapest reading so far */
	struct ptc_align_result result;
};

void ptc_compare_calls_release(struct ptc_compare_calls *c)
{
	ptc_live_release(&c->now);
	ptc_live_release(&c->best);
}

static bool is_exact(const struct ptc_live *l, const struct ptc_align_in *in)
{
	size_t i;

	if (in->n > l->n)
		return false;
	for (i = 0; i < in->n; i++)
		if (l->calls[l->n - 1 - i].from != in->entries[i].from ||
		    l->calls[l->n - 1 - i].to != in->entries[i].to)
			return false;
	return true;
}

/* Returns how many of @l's newest calls are looked at. */
static size_t window(const struct ptc_live *l, const struct ptc_align_in *in)
{
	return in->n + OLDER < l->n ? in->n + OLDER : l->n;
}

/* Read the stack as the newest calls of @l. */
static int read_as(struct looking *k, struct ptc_live *l, struct ptc_align_entry *ret,
		   struct ptc_align_result *ret_all)
{
	const size_t n = window(l, k->in);
	int rc;

	k->in->steps = l->calls + (l->n - n);
	k->in->nsteps = n;
	k->in->begins = n == l->n && !l->cut;
	if (n)
		l->calls[l->n - 1].flags |= PTC_STEP_FITS;
	rc = ptc_align_run(k->a, k->in, ret, ret_all);
	if (n)
		l->calls[l->n - 1].flags &= (uint8_t)~PTC_STEP_FITS;
	return rc;
}

/* Another place costs the same: keep only results that both readings have. */
static void merge(struct looking *k, const struct ptc_align_entry *other)
{
	size_t i;

	for (i = 0; i < k->in->n; i++)
		if (k->entries[i].verdict != other[i].verdict)
			k->entries[i] = (struct ptc_align_entry){ .verdict = PTC_VERDICT_AMBIGUOUS,
								  .step = PTC_ALIGN_NONE };
		else if (k->entries[i].missing != other[i].missing)
			k->entries[i].missing = 0;
	k->result.candidates++;
}

static int read_here(struct looking *k)
{
	struct ptc_align_entry other[PTC_ALIGN_ENTRIES];
	struct ptc_align_result all;

	if (k->places++ < k->skip)
		return 0;
	if (read_as(k, &k->c->now, other, &all))
		return PTC_E_NO_MEMORY;
	if (k->result.candidates && all.cost == k->result.cost)
		merge(k, other);
	if (k->result.candidates && all.cost >= k->result.cost)
		return 0;
	k->result = all;
	k->result.candidates = 1;
	memcpy(k->entries, other, k->in->n * sizeof(*other));
	return ptc_live_copy(&k->c->best, &k->c->now) ? 0 : PTC_E_NO_MEMORY;
}

static int note_exact(struct looking *k)
{
	k->places++;
	if (!is_exact(&k->c->now, k->in))
		return 0;
	k->result.candidates++;
	return ptc_live_copy(&k->c->best, &k->c->now) ? 0 : PTC_E_NO_MEMORY;
}

/* Visit all places whose calls differ, in order. */
static int visit(struct looking *k, int (*place)(struct looking *k))
{
	bool changed = true, news;
	size_t i;
	int rc = 0;

	k->places = 0;
	if (!ptc_live_copy(&k->c->now, &k->t->live))
		return PTC_E_NO_MEMORY;
	for (i = k->t->live_at; i < k->t->n && !rc; i++) {
		const struct ptc_step *s = &k->t->steps[i];

		if (!ptc_live_step(&k->c->now, s, &news))
			return PTC_E_NO_MEMORY;
		changed |= news;
		if (!changed || i < k->first || (s->flags & k->flags) != k->flags)
			continue;
		changed = false;
		rc = place(k);
	}
	return rc;
}

static void set_flags(struct looking *k)
{
	size_t i;

	k->flags = PTC_STEP_END;
	for (i = k->first; i < k->t->n; i++)
		if ((k->t->steps[i].flags & (PTC_STEP_END | PTC_STEP_FITS)) ==
		    (PTC_STEP_END | PTC_STEP_FITS))
			k->flags = PTC_STEP_END | PTC_STEP_FITS;
}

/* No call is live, and calls before the beginning of the trace are unknown. */
static bool is_before(const struct looking *k)
{
	return !k->c->best.n && !k->c->best.cut;
}

static void set_all(struct looking *k, enum ptc_verdict v)
{
	size_t i;

	for (i = 0; i < k->in->n; i++)
		k->entries[i] =
			(struct ptc_align_entry){ .verdict = (uint8_t)v, .step = PTC_ALIGN_NONE };
}

int ptc_compare_calls_run(struct ptc_compare_calls *c, struct ptc_align *a,
			  struct ptc_thread_history_thread *t, size_t first,
			  struct ptc_align_in *in, struct ptc_align_entry *ret_entries,
			  struct ptc_align_result *ret)
{
	struct looking k = {
		.c = c, .a = a, .t = t, .first = first, .in = in, .entries = ret_entries
	};
	size_t places;
	int rc;

	if (!ptc_thread_history_live(t, first > BACK ? first - BACK : 0))
		return PTC_E_NO_MEMORY;
	c->best.n = 0;
	set_flags(&k);
	rc = visit(&k, note_exact);
	places = k.result.candidates;
	if (!rc && !places) {
		k.skip = k.places > PLACES ? k.places - PLACES : 0;
		rc = visit(&k, read_here);
	}
	if (rc)
		return rc;
	if (places)
		rc = read_as(&k, &c->best, ret_entries, &k.result);
	else if (!k.result.candidates)
		set_all(&k, PTC_VERDICT_UNPLACED);
	else if (is_before(&k))
		set_all(&k, PTC_VERDICT_BEFORE);
	k.result.candidates = places ? places : k.result.candidates;
	in->nsteps = window(&c->best, in);
	in->steps = c->best.n ? c->best.calls + (c->best.n - in->nsteps) : NULL;
	*ret = k.result;
	return rc;
}
