/* SPDX-License-Identifier: MIT */
#include "cli/serve/call_search.h"

#include <stdlib.h>

/* A scan of one thread. */
struct scan {
	struct ptc_served_recording *s;
	const struct ptc_call_search *ask; /* NULL: any function at @depth */
	uint32_t thread, depth;
	bool backward;
	int axis;
	bool by_number; /* the call is behind (before) number @limit; else place @limit */
	bool equal;	/* a call at place @limit counts */
	uint64_t limit;
	struct ptc_call_list calls;
	const struct ptc_served_call *best;
};

static uint64_t begin_on(const struct ptc_served_call *call, int axis)
{
	return axis ? call->begin.time_ns : call->begin.insns;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static bool is_wanted(const struct scan *x, const struct ptc_served_call *call)
{
	const uint64_t v = x->by_number ? call->number : begin_on(call, x->axis);

	if (v == x->limit ? !x->equal : x->backward ? v > x->limit : v < x->limit)
		return false;
	if (!x->ask)
		return call->depth == x->depth;
	return bsearch(&call->function, x->ask->functions, x->ask->nfunctions, sizeof(uint32_t),
		       by_value) != NULL;
}

static bool may_have_wanted(const struct scan *x, const struct ptc_call_chunk *c)
{
	size_t i;

	if (!x->ask)
		return x->depth >= c->shallow && x->depth <= c->deep;
	for (i = 0; i < x->ask->nfunctions; i++)
		if (ptc_call_chunk_may_have(c, x->ask->functions[i]))
			return true;
	return false;
}

/* Sets x->best to the wanted call of chunk @i that is nearest to the limit, or NULL. */
static int scan_chunk(struct scan *x, size_t i, struct ptc_err *err)
{
	size_t k;
	int rc;

	x->calls.n = 0;
	rc = ptc_call_store_entries(&x->s->calls, x->thread, i, &x->calls, err);
	for (k = 0; k < x->calls.n && !rc; k++) {
		const struct ptc_served_call *call = &x->calls.v[k];

		if (is_wanted(x, call) &&
		    (!x->best || (x->backward ? call->number > x->best->number :
						call->number < x->best->number)))
			x->best = call;
	}
	return rc;
}

/* Returns whether no call of chunk @c can come before a call at place @found. */
static bool is_beyond(const struct scan *x, const struct ptc_call_chunk *c, const uint64_t *found)
{
	if (!found)
		return false;
	if (x->backward)
		return (x->axis ? c->end.time_ns : c->end.insns) < *found;
	return (x->axis ? c->begin.time_ns : c->begin.insns) > *found;
}

/* Finds x->best in a thread. @found: place of a call in another thread, or NULL. */
static int scan_thread(struct scan *x, const uint64_t *found, struct ptc_err *err)
{
	const struct ptc_stored_thread *t = &x->s->calls.threads[x->thread];
	size_t i = x->by_number ? ptc_call_store_of_number(t, x->limit) :
				  ptc_call_store_at(t, x->axis, x->limit);
	int rc = 0;

	x->best = NULL;
	if (x->backward && !x->by_number) /* others that begin at this place may follow */
		i = x->limit == UINT64_MAX ? t->n : ptc_call_store_at(t, x->axis, x->limit + 1);
	if (i == t->n) {
		if (!x->backward || !t->n)
			return 0;
		i = t->n - 1;
	}
	for (;;) {
		if (is_beyond(x, &t->chunks[i], found))
			return 0;
		if (may_have_wanted(x, &t->chunks[i]))
			rc = scan_chunk(x, i, err);
		if (rc || x->best || (x->backward ? !i : i + 1 == t->n))
			return rc;
		i = x->backward ? i - 1 : i + 1;
	}
}

/* Returns whether place @a of the scanned thread is nearer than place @b of thread @other. */
static bool comes_first(const struct scan *x, uint64_t a, uint64_t b, uint32_t other)
{
	if (a != b)
		return x->backward ? a > b : a < b;
	return x->backward ? x->thread > other : x->thread < other;
}

/* Gets the place of the call at which a search begins. *@ret_known: there is such a call. */
static int place_of_begin(struct ptc_served_recording *s, const struct ptc_call_search *ask,
			  bool *ret_known, uint64_t *ret, struct ptc_err *err)
{
	struct ptc_call_list calls = { .n = 0 };
	int rc = ptc_call_store_stack(&s->calls, ask->at.thread, ask->at.number, &calls, err);

	*ret_known = !rc && calls.n;
	if (*ret_known)
		*ret = begin_on(&calls.v[0], ask->axis);
	free(calls.v);
	return rc;
}

int ptc_call_search(struct ptc_served_recording *s, const struct ptc_call_search *ask,
		    bool *ret_found, struct ptc_call_place *ret, struct ptc_err *err)
{
	struct scan x = { .s = s, .ask = ask, .axis = ask->axis, .backward = ask->backward };
	uint64_t place = ask->backward ? UINT64_MAX : 0, best = 0;
	bool known = true;
	int rc = ask->whole ? 0 : place_of_begin(s, ask, &known, &place, err);

	*ret_found = false;
	for (x.thread = 0; known && x.thread < s->calls.n && !rc; x.thread++) {
		x.by_number = !ask->whole && x.thread == ask->at.thread;
		x.equal = ask->whole ||
			  (!x.by_number &&
			   (ask->backward ? x.thread < ask->at.thread : x.thread > ask->at.thread));
		x.limit = x.by_number ? ask->at.number : place;
		rc = scan_thread(&x, *ret_found ? &best : NULL, err);
		if (rc || !x.best ||
		    (*ret_found && !comes_first(&x, begin_on(x.best, x.axis), best, ret->thread)))
			continue;
		best = begin_on(x.best, x.axis);
		*ret = (struct ptc_call_place){ x.thread, x.best->number };
		*ret_found = true;
	}
	free(x.calls.v);
	return rc;
}

int ptc_call_beside(struct ptc_served_recording *s, struct ptc_call_place at, uint32_t depth,
		    bool backward, bool *ret_found, uint64_t *ret_number, struct ptc_err *err)
{
	struct scan x = { .s = s,
			  .thread = at.thread,
			  .depth = depth,
			  .backward = backward,
			  .by_number = true,
			  .limit = at.number };
	const int rc = scan_thread(&x, NULL, err);

	*ret_found = !rc && x.best;
	if (*ret_found)
		*ret_number = x.best->number;
	free(x.calls.v);
	return rc;
}
