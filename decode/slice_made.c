/* SPDX-License-Identifier: MIT */
/* A slice whose pieces the second engine makes. */
#include "decode/piece.h"
#include "decode/slice.h"
#include "decode/window.h"

/* Records that a slice may have, about: 64 MiB, whatever the trace is made of. */
enum { RECS_MAX = 4 << 20 };

struct making {
	struct ptc_slice *s;
	struct ptc_engine *e;
	const atomic_bool *cancelled;
	struct ptc_window window; /* of the span */
	size_t recs;
};

/* Who is to run at the PSB at @at. NULL: that is not known here. */
static const struct ptc_context *context_at(const struct ptc_slice *s, const struct ptc_span *sp,
					    size_t at)
{
	uint64_t ns = 0;

	if (s->conf.clock.valid && ptc_range_next_timed(sp, &s->conf.clock, at, &ns) != at)
		return NULL;
	if (ns > s->horizon || ns < s->contexts.v[0].from_ns)
		return NULL;
	return ptc_context_at(&s->contexts, ns);
}

/* The piece at @at. Returns where to go on; SIZE_MAX: nowhere. */
static size_t make(struct making *k, struct ptc_spot at)
{
	const struct ptc_span *sp = k->window.span;
	const struct ptc_context *c = context_at(k->s, sp, at.off);
	struct ptc_made *m;

	if (!c)
		return ptc_span_next_psb(sp, at.off + PTC_PSB_LEN);
	m = ptc_made_list_add(&k->s->made);
	if (!m)
		return SIZE_MAX;
	m->spot = at;
	ptc_window_move(&k->window, at.off);
	ptc_engine_make(k->e, &c->view->as, c->pid, &k->window, at.off, m);
	k->recs += m->n;
	if (k->recs > RECS_MAX)
		return SIZE_MAX;
	return m->why ? ptc_span_next_psb(sp, at.off + PTC_PSB_LEN) : m->end;
}

/* From @at to the end of its span. False: that is all. */
static bool make_span(struct making *k, struct ptc_spot at)
{
	const struct ptc_span *sp = &k->s->conf.stream->spans[at.span];
	struct ptc_err err;

	if (ptc_window_open(&k->window, sp, false, &err) < 0)
		return false;
	for (at.off = ptc_span_next_psb(sp, at.off);
	     at.off < sp->len && ptc_spot_is_before(at, k->s->stop);)
		at.off = atomic_load_explicit(k->cancelled, memory_order_relaxed) ? SIZE_MAX :
										    make(k, at);
	ptc_window_release(&k->window);
	return at.off == sp->len;
}

void ptc_slice_make(struct ptc_slice *s, struct ptc_slice_worker *w, const atomic_bool *cancelled)
{
	struct making k = { .s = s, .e = w->engine, .cancelled = cancelled };
	struct ptc_spot at = s->conf.start;

	while (at.span < s->conf.stream->n && make_span(&k, at))
		at = (struct ptc_spot){ at.span + 1, 0 };
}
