/* SPDX-License-Identifier: MIT */
#include "cli/decode/call_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ptcap/error.h"

struct ptc_view_thread {
	int32_t tid;
	uint32_t queue; /* of its last call */
	bool inside;	/* of a call of choice.sym */
	uint32_t root;	/* depth of this call; 0 if the call was dropped */
	uint32_t open;	/* functions of the stack */
	/* The open calls that are not yet long enough, the outermost first. */
	struct ptc_shown_call *pending; /* owned */
	size_t n, cap;
};

/* Returns the thread, which may be new. NULL: out of memory. */
static struct ptc_view_thread *view_thread(struct ptc_call_view *v, int32_t tid)
{
	size_t at = ptc_idmap_find(&v->tids, tid);

	if (at != SIZE_MAX)
		return &v->threads[at];
	at = v->tids.n;
	if (!ptc_grow(&v->threads, &v->cap, at + 1, sizeof(*v->threads)) ||
	    !ptc_idmap_add(&v->tids, tid, at))
		return NULL;
	v->threads[at] = (struct ptc_view_thread){ .tid = tid };
	return &v->threads[at];
}

static int show(struct ptc_call_view *v, const struct ptc_shown_call *call)
{
	return v->sink.on_call(v->sink.ctx, call);
}

/* Show the first @n pending calls. */
static int show_pending(struct ptc_call_view *v, struct ptc_view_thread *t, size_t n)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		rc = show(v, &t->pending[i]);
	t->n -= n;
	if (n && t->n)
		memmove(t->pending, t->pending + n, t->n * sizeof(*t->pending));
	return rc;
}

/* Does a call last long enough at @now? Yes, if that is not known. */
static bool is_long(const struct ptc_call_view *v, const struct ptc_shown_call *call,
		    const struct ptc_shown_call *now)
{
	const uint64_t a = v->choice.min_is_time ? call->time : call->insns;
	const uint64_t b = v->choice.min_is_time ? now->time : now->insns;

	return a == PTC_NO_TIME || b == PTC_NO_TIME || (b >= a && b - a >= v->choice.min);
}

/* Show the pending calls that are now long enough. They are the outermost ones. */
static int show_long(struct ptc_call_view *v, struct ptc_view_thread *t,
		     const struct ptc_shown_call *now)
{
	size_t n = 0;

	while (n < t->n && is_long(v, &t->pending[n], now))
		n++;
	return n ? show_pending(v, t, n) : 0;
}

/*
 * Returns whether @call is at or below a call of choice.sym. A call at the depth of that call or
 * above it ends it, for example behind a gap.
 */
static bool is_inside(struct ptc_call_view *v, struct ptc_view_thread *t,
		      const struct ptc_shown_call *call)
{
	if (!v->choice.sym)
		return true;
	if (call->type == PTC_CALL_LEAVE) {
		t->inside = t->inside && call->depth >= t->root;
		return t->inside;
	}
	if (t->inside && call->depth > t->root)
		return true;
	t->inside = call->is_chosen;
	t->root = call->depth;
	v->found |= t->inside;
	return t->inside;
}

/*
 * Half of the stack was dropped in front of @call, so the depths of the other calls are lower. The
 * ends of the dropped calls are not known.
 */
static int view_cut(struct ptc_call_view *v, struct ptc_view_thread *t,
		    const struct ptc_shown_call *call)
{
	const uint32_t depth = call->depth + (call->type == PTC_CALL_LEAVE);
	const uint32_t dropped = t->open > depth ? t->open - depth : 0;
	size_t n = 0, i;
	int rc;

	while (n < t->n && t->pending[n].depth < dropped)
		n++;
	rc = show_pending(v, t, n);
	for (i = 0; i < t->n; i++)
		t->pending[i].depth -= dropped;
	t->root = t->root > dropped ? t->root - dropped : 0;
	return rc;
}

static int view_entry(struct ptc_call_view *v, struct ptc_view_thread *t,
		      const struct ptc_shown_call *call)
{
	int rc;

	/* Behind a gap: the older calls of this depth have no end. */
	while (t->n && t->pending[t->n - 1].depth >= call->depth)
		t->n--;
	rc = show_long(v, t, call);
	if (rc)
		return rc;
	if (!v->choice.min)
		return show(v, call);
	if (!ptc_grow(&t->pending, &t->cap, t->n + 1, sizeof(*call)))
		return PTC_E_NO_MEMORY;
	t->pending[t->n++] = *call;
	return 0;
}

static int view_end(struct ptc_call_view *v, struct ptc_view_thread *t,
		    const struct ptc_shown_call *call)
{
	const int rc = show_long(v, t, call);

	if (rc)
		return rc;
	if (t->n && t->pending[t->n - 1].depth == call->depth) {
		t->n--; /* a short call */
		return 0;
	}
	return show(v, call);
}

static int end_view(struct ptc_call_view *v, struct ptc_view_thread *t)
{
	t->inside = false;
	return show_pending(v, t, t->n);
}

/* A gap drops the calls of its thread, or of all threads of its queue. */
static int view_gap(struct ptc_call_view *v, const struct ptc_shown_call *call)
{
	const size_t only = call->tid < 0 ? SIZE_MAX : ptc_idmap_find(&v->tids, call->tid);
	size_t i;
	int rc = 0;

	if (only != SIZE_MAX)
		rc = end_view(v, &v->threads[only]);
	for (i = 0; i < v->tids.n && !rc && call->tid < 0; i++)
		if (v->threads[i].queue == call->queue)
			rc = end_view(v, &v->threads[i]);
	return rc ? rc : show(v, call);
}

int ptc_call_view_add(void *ctx, const struct ptc_shown_call *call)
{
	struct ptc_call_view *v = ctx;
	struct ptc_shown_call shown = *call;
	struct ptc_view_thread *t;
	int rc;

	if (call->type == PTC_CALL_LOST)
		return view_gap(v, call);
	t = view_thread(v, call->tid);
	if (!t)
		return PTC_E_NO_MEMORY;
	t->queue = call->queue;
	rc = call->cut ? view_cut(v, t, call) : 0;
	if (rc)
		return rc;
	t->open = call->depth + (call->type == PTC_CALL_ENTER);
	if (!is_inside(v, t, call))
		return 0;
	if (v->choice.sym)
		shown.indent = call->depth - t->root;
	if (v->choice.depth && shown.indent >= v->choice.depth)
		return show_long(v, t, call);
	rc = call->type == PTC_CALL_ENTER ? view_entry(v, t, &shown) : view_end(v, t, &shown);
	if (call->type == PTC_CALL_LEAVE && v->choice.sym && call->depth == t->root)
		t->inside = false;
	return rc;
}

int ptc_call_view_finish(struct ptc_call_view *v)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < v->tids.n && !rc; i++)
		rc = show_pending(v, &v->threads[i], v->threads[i].n);
	return rc;
}

void ptc_call_view_release(struct ptc_call_view *v)
{
	size_t i;

	for (i = 0; i < v->tids.n; i++)
		free(v->threads[i].pending);
	free(v->threads);
	ptc_idmap_release(&v->tids);
	*v = (struct ptc_call_view){ .found = v->found };
}
