/* SPDX-License-Identifier: MIT */
#include "decode/lbr/thread_history.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sorted.h"
#include "ptcap/branchsel.h"
#include "ptcap/error.h"

enum {
	FIRST_CAP = 64,
	STACK = 2 * PTC_ALIGN_ENTRIES, /* more than a stack and the steps searched in front of it */
};

/* Order of times: no time is in front of all others. */
static inline uint64_t order_of(uint64_t time)
{
	return time + 1;
}

static void release_steps(struct ptc_thread_history *r, struct ptc_thread_history_thread *t)
{
	free(t->steps);
	free(t->keys);
	free(t->stops);
	r->held -= t->cap;
	t->steps = NULL;
	t->keys = NULL;
	t->stops = NULL;
	t->n = t->cap = t->nstops = t->stops_cap = 0;
}

void ptc_thread_history_release(struct ptc_thread_history *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		release_steps(r, &r->threads[i]);
		ptc_live_release(&r->threads[i].live);
	}
	free(r->threads);
	*r = (struct ptc_thread_history){ .n = 0 };
}

/* Returns the index of the first thread with @tid or above. */
static size_t recent_thread_index(const struct ptc_thread_history *r, int32_t tid)
{
	return PTC_PARTITION_POINT(i, 0, r->n, r->threads[i].tid < tid);
}

struct ptc_thread_history_thread *ptc_thread_history_find(struct ptc_thread_history *r, int32_t tid)
{
	if (r->newest >= r->n || r->threads[r->newest].tid != tid)
		r->newest = recent_thread_index(r, tid);
	return r->newest < r->n && r->threads[r->newest].tid == tid ? &r->threads[r->newest] : NULL;
}

static struct ptc_thread_history_thread *get_recent_thread(struct ptc_thread_history *r,
							   int32_t tid)
{
	struct ptc_thread_history_thread *t = ptc_thread_history_find(r, tid);

	if (t)
		return t;
	if (!ptc_grow(&r->threads, &r->cap, r->n + 1, sizeof(*r->threads)))
		return NULL;
	t = &r->threads[r->newest];
	memmove(t + 1, t, (r->n - r->newest) * sizeof(*t));
	*t = (struct ptc_thread_history_thread){ .tid = tid };
	r->n++;
	return t;
}

size_t ptc_thread_history_since(const struct ptc_thread_history_thread *t, uint64_t since)
{
	size_t at = PTC_PARTITION_POINT(i, t->ordered, t->n, order_of(t->steps[i].time) <= since);

	while (at && t->steps[at - 1].time >= since)
		at--;
	return at;
}

bool ptc_thread_history_live(struct ptc_thread_history_thread *t, size_t at)
{
	for (; t->live_at < at; t->live_at++)
		if (!ptc_live_step(&t->live, &t->steps[t->live_at], NULL))
			return false;
	return true;
}

static bool is_stop(const struct ptc_step *next)
{
	return next->flags & PTC_STEP_GAP || !next->to || ptc_is_kernel_ip(next->to);
}

bool ptc_thread_history_stops(struct ptc_thread_history_thread *t, size_t first)
{
	const uint64_t from = t->dropped + first, end = t->dropped + t->n;
	uint64_t at = t->stops_until > from ? t->stops_until : from;
	size_t old = 0;

	while (old < t->nstops && t->stops[old] < from)
		old++;
	t->nstops -= old;
	if (old && t->nstops)
		memmove(t->stops, t->stops + old, t->nstops * sizeof(*t->stops));
	for (; at + 1 < end; at++) {
		if (!is_stop(&t->steps[at + 1 - t->dropped]))
			continue;
		if (!ptc_grow(&t->stops, &t->stops_cap, t->nstops + 1, sizeof(*t->stops)))
			return false;
		t->stops[t->nstops++] = at;
	}
	t->stops_until = at;
	return true;
}

/* Drops the @n oldest steps. */
static bool drop_oldest_steps(struct ptc_thread_history *r, struct ptc_thread_history_thread *t,
			      size_t n)
{
	if (r->calls && !ptc_thread_history_live(t, n))
		return false;
	t->live_at -= r->calls ? n : 0;
	t->n -= n;
	memmove(t->steps, t->steps + n, t->n * sizeof(*t->steps));
	memmove(t->keys, t->keys + n, t->n);
	t->ordered -= t->ordered < n ? t->ordered : n;
	t->dropped += n;
	t->cut = true;
	return true;
}

/* @cap must be at least @t->n. */
static bool resize(struct ptc_thread_history *r, struct ptc_thread_history_thread *t, size_t cap)
{
	struct ptc_step *steps = reallocarray(t->steps, cap, sizeof(*steps));
	uint8_t *keys;

	if (!steps)
		return false;
	t->steps = steps;
	keys = realloc(t->keys, cap);
	if (!keys)
		return false;
	t->keys = keys;
	r->held += cap;
	r->held -= t->cap;
	t->cap = cap;
	return true;
}

/* Returns the thread that was idle longest, among those with more than @least steps, except @t. */
static struct ptc_thread_history_thread *
longest_idle(struct ptc_thread_history *r, const struct ptc_thread_history_thread *t, size_t least)
{
	struct ptc_thread_history_thread *best = NULL;
	size_t i;

	for (i = 0; i < r->n; i++) {
		struct ptc_thread_history_thread *o = &r->threads[i];

		if (o == t || o->cap <= least)
			continue;
		if (!best ||
		    order_of(o->steps[o->n - 1].time) < order_of(best->steps[best->n - 1].time))
			best = o;
	}
	return best;
}

static bool shrink(struct ptc_thread_history *r, struct ptc_thread_history_thread *t)
{
	if (t->n > PTC_THREAD_HISTORY_LEAST &&
	    !drop_oldest_steps(r, t, t->n - PTC_THREAD_HISTORY_LEAST))
		return false;
	return resize(r, t, PTC_THREAD_HISTORY_LEAST);
}

static void forget_all_steps(struct ptc_thread_history *r, struct ptc_thread_history_thread *t)
{
	t->dropped += t->n;
	t->ordered = t->live_at = 0;
	t->cut = true;
	release_steps(r, t);
	ptc_live_release(&t->live);
	t->live.cut = true;
	r->forgotten++;
}

static bool is_of_user(const struct ptc_step *s)
{
	return s->from && s->to && !ptc_is_kernel_ip(s->to);
}

/* Returns how many of the PTC_THREAD_HISTORY_CAP steps of @t to keep. */
static size_t wanted(const struct ptc_thread_history *r, const struct ptc_thread_history_thread *t)
{
	size_t i = ptc_thread_history_since(t, r->since), left = STACK, n;

	while (i && left)
		left -= is_of_user(&t->steps[--i]);
	n = t->n - i < PTC_THREAD_HISTORY_LEAST ? PTC_THREAD_HISTORY_LEAST : t->n - i;
	return r->since && n < PTC_THREAD_HISTORY_MAX ? n : PTC_THREAD_HISTORY_MAX;
}

/* Makes space for one more step of @t, which is full. */
static bool make_room(struct ptc_thread_history *r, struct ptc_thread_history_thread *t)
{
	const size_t most = r->most ? r->most : PTC_THREAD_HISTORY_TOTAL;
	const size_t want = t->cap ? 2 * t->cap : FIRST_CAP;
	struct ptc_thread_history_thread *o;

	if (t->cap == PTC_THREAD_HISTORY_CAP)
		return drop_oldest_steps(r, t, t->n - wanted(r, t));
	while (r->held + want - t->cap > most) {
		o = longest_idle(r, t, PTC_THREAD_HISTORY_LEAST);
		if (o) {
			if (!shrink(r, o))
				return false;
			continue;
		}
		if (t->cap >= PTC_THREAD_HISTORY_LEAST)
			return drop_oldest_steps(r, t, t->n / 2);
		o = longest_idle(r, t, 0);
		if (!o)
			break;
		forget_all_steps(r, o);
	}
	return resize(r, t, want);
}

static bool append_step(struct ptc_thread_history *r, struct ptc_thread_history_thread *t,
			const struct ptc_step *s)
{
	if (t->n == t->cap && !make_room(r, t))
		return false;
	if (t->n && order_of(s->time) < order_of(t->steps[t->n - 1].time))
		t->ordered = t->n;
	t->steps[t->n] = *s;
	t->keys[t->n++] = ptc_thread_history_key(s->from, s->to);
	return true;
}

static bool append_gap(struct ptc_thread_history *r, const struct ptc_item *it)
{
	const struct ptc_step gap = { .time = it->time, .kind = it->cause, .flags = PTC_STEP_GAP };
	const bool own = it->cause == PTC_GAP_NOCODE || it->cause == PTC_GAP_BADPACKET ||
			 it->cause == PTC_GAP_DESYNC;
	struct ptc_thread_history_thread *t;
	size_t i;

	if (own && it->tid >= 0) {
		t = get_recent_thread(r, it->tid);
		return t && append_step(r, t, &gap);
	}
	for (i = 0; i < r->n; i++)
		if (r->threads[i].n && !append_step(r, &r->threads[i], &gap))
			return false;
	return true;
}

static bool append_item(struct ptc_thread_history *r, const struct ptc_item *it)
{
	const struct ptc_step s = { it->from, it->to, it->time, it->kind, 0 };
	struct ptc_thread_history_thread *t;

	if (it->type == PTC_ITEM_GAP)
		return append_gap(r, it);
	if (it->type != PTC_ITEM_BRANCH)
		return true;
	t = get_recent_thread(r, it->tid);
	return t && append_step(r, t, &s);
}

/*
 * Appends the first of @items that are branches of @t, in front of @until, as far as there is
 * space. Hot path: runs for each branch of a trace.
 */
static size_t append_run(struct ptc_thread_history_thread *t, uint64_t until,
			 const struct ptc_item *restrict items, size_t n)
{
	struct ptc_step *restrict s = t->steps + t->n;
	uint8_t *restrict keys = t->keys + t->n;
	uint64_t last = t->n ? order_of(t->steps[t->n - 1].time) : 0;
	const int32_t tid = t->tid;
	size_t i;

	if (n > t->cap - t->n)
		n = t->cap - t->n;
	for (i = 0; i < n; i++) {
		const uint64_t now = order_of(items[i].time);

		if (items[i].type != PTC_ITEM_BRANCH || items[i].tid != tid || now > until)
			break;
		if (now < last)
			t->ordered = t->n + i;
		last = now;
		s[i].from = items[i].from;
		s[i].to = items[i].to;
		s[i].time = items[i].time;
		s[i].kind = items[i].kind;
		s[i].flags = 0;
		keys[i] = ptc_thread_history_key(items[i].from, items[i].to);
	}
	t->n += i;
	return i;
}

ptrdiff_t ptc_thread_history_items(struct ptc_thread_history *r, uint64_t until,
				   const struct ptc_item *items, size_t n)
{
	size_t i = 0;

	while (i < n && order_of(items[i].time) <= until) {
		struct ptc_thread_history_thread *t = ptc_thread_history_find(r, items[i].tid);
		const size_t run = t ? append_run(t, until, items + i, n - i) : 0;

		i += run;
		if (!run && !append_item(r, &items[i++]))
			return PTC_E_NO_MEMORY;
	}
	return (ptrdiff_t)i;
}
