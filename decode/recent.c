/* SPDX-License-Identifier: MIT */
#include "decode/recent.h"

#include <stdlib.h>
#include <string.h>

#include "decode/grow.h"

void ptc_recent_release(struct ptc_recent *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		free(r->threads[i].steps);
		ptc_live_release(&r->threads[i].live);
	}
	free(r->threads);
	*r = (struct ptc_recent){ .n = 0 };
}

/* The first thread with @tid or above. */
static size_t place_of(const struct ptc_recent *r, int32_t tid)
{
	size_t lo = 0, hi = r->n;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (r->threads[mid].tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct ptc_recent_thread *ptc_recent_find(struct ptc_recent *r, int32_t tid)
{
	if (r->newest >= r->n || r->threads[r->newest].tid != tid)
		r->newest = place_of(r, tid);
	return r->newest < r->n && r->threads[r->newest].tid == tid ? &r->threads[r->newest] : NULL;
}

static struct ptc_recent_thread *get(struct ptc_recent *r, int32_t tid)
{
	struct ptc_recent_thread *t = ptc_recent_find(r, tid);

	if (t)
		return t;
	if (!ptc_grow(&r->threads, &r->cap, r->n + 1, sizeof(*r->threads)))
		return NULL;
	t = &r->threads[r->newest];
	memmove(t + 1, t, (r->n - r->newest) * sizeof(*t));
	*t = (struct ptc_recent_thread){ .tid = tid };
	r->n++;
	return t;
}

bool ptc_recent_live(struct ptc_recent_thread *t, size_t at)
{
	for (; t->live_at < at; t->live_at++)
		if (!ptc_live_step(&t->live, &t->steps[t->live_at], NULL))
			return false;
	return true;
}

static bool append(const struct ptc_recent *r, struct ptc_recent_thread *t,
		   const struct ptc_step *s)
{
	/* The newer half moves to the front: one move for each so many transfers. */
	if (t->n == 2 * (size_t)PTC_RECENT_MAX) {
		if (r->calls && !ptc_recent_live(t, PTC_RECENT_MAX))
			return false;
		t->live_at -= r->calls ? PTC_RECENT_MAX : 0;
		memmove(t->steps, t->steps + PTC_RECENT_MAX, PTC_RECENT_MAX * sizeof(*s));
		t->n = PTC_RECENT_MAX;
		t->cut = true;
	}
	if (t->n == t->cap && !ptc_grow(&t->steps, &t->cap, t->n + 1, sizeof(*s)))
		return false;
	t->room = t->cap < 2 * (size_t)PTC_RECENT_MAX ? t->cap : 2 * (size_t)PTC_RECENT_MAX;
	t->steps[t->n++] = *s;
	return true;
}

static bool append_gap(struct ptc_recent *r, const struct ptc_item *it)
{
	const struct ptc_step gap = { .time = it->time, .kind = it->cause, .flags = PTC_STEP_GAP };
	const bool own = it->cause == PTC_GAP_NOCODE || it->cause == PTC_GAP_BADPACKET ||
			 it->cause == PTC_GAP_DESYNC;
	struct ptc_recent_thread *t;
	size_t i;

	if (own && it->tid >= 0) {
		t = get(r, it->tid);
		return t && append(r, t, &gap);
	}
	for (i = 0; i < r->n; i++)
		if (!append(r, &r->threads[i], &gap))
			return false;
	return true;
}

static bool append_item(struct ptc_recent *r, const struct ptc_item *it)
{
	const struct ptc_step s = { it->from, it->to, it->time, it->kind, 0 };
	struct ptc_recent_thread *t;

	if (it->type == PTC_ITEM_GAP)
		return append_gap(r, it);
	if (it->type != PTC_ITEM_BRANCH)
		return true;
	t = get(r, it->tid);
	return t && append(r, t, &s);
}

/* Those of @items that are transfers of @t and for which there is room: this is done for each of a
 * trace. */
static size_t append_run(struct ptc_recent_thread *t, const struct ptc_item *items, size_t n)
{
	struct ptc_step *s = t->steps + t->n;
	size_t i;

	if (n > t->room - t->n)
		n = t->room - t->n;
	for (i = 0; i < n && items[i].type == PTC_ITEM_BRANCH && items[i].tid == t->tid; i++, s++) {
		s->from = items[i].from;
		s->to = items[i].to;
		s->time = items[i].time;
		s->kind = items[i].kind;
		s->flags = 0;
	}
	t->n += i;
	return i;
}

bool ptc_recent_items(struct ptc_recent *r, const struct ptc_item *items, size_t n)
{
	size_t i = 0;

	while (i < n) {
		struct ptc_recent_thread *t = ptc_recent_find(r, items[i].tid);
		const size_t run = t ? append_run(t, items + i, n - i) : 0;

		i += run;
		if (!run && !append_item(r, &items[i++]))
			return false;
	}
	return true;
}
