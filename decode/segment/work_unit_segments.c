/* SPDX-License-Identifier: MIT */
/* Work units whose segments the second engine makes. */
#include "decode/segment/segment.h"
#include "decode/segment/work_unit.h"

/* Approximate limit of records in a work unit: 64 MiB, for any trace. */
enum { RECS_MAX = 4 << 20 };

struct making {
	struct ptc_slice *s;
	struct ptc_slice_worker *w;
};

/* Returns the context at the PSB at @at. NULL: not known here. */
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

/*
 * Makes the segment between the PSBs at @at and @next, if its context is known. Returns false if
 * the work unit is full.
 */
static bool make_segment(struct making *k, struct ptc_spot at, size_t next)
{
	const struct ptc_span *sp = &k->s->conf.stream->spans[at.span];
	const struct ptc_context *c = context_at(k->s, sp, at.off);
	struct ptc_made_view v;
	struct ptc_made *m;

	/* A segment that cannot be made here is decoded in its turn. */
	if (!c || ptc_made_look(sp, at.off, next, false, &k->w->copy, &v))
		return true;
	m = ptc_made_list_add(&k->s->made);
	if (!m)
		return false;
	m->spot = at;
	ptc_engine_make(k->w->engine, &c->view->as, c->pid, &v, at.off, &k->s->made.room, m);
	k->s->nrecs += m->counted ? m->nmarks : m->n;
	return k->s->nrecs < RECS_MAX;
}

static size_t next_psb(const struct ptc_slice *s, struct ptc_spot at)
{
	const size_t psb = ptc_psbs_find(&s->psbs, at);

	return psb < SIZE_MAX ? psb : ptc_span_next_psb(&s->conf.stream->spans[at.span], at.off);
}

/* Makes the segments of the span that @at is in. Returns false if the work unit ends there. */
static bool make_span(struct making *k, struct ptc_spot at, const atomic_bool *cancelled)
{
	const struct ptc_span *sp = &k->s->conf.stream->spans[at.span];
	size_t next;

	for (at.off = next_psb(k->s, at); at.off < sp->len; at.off = next) {
		if (atomic_load_explicit(cancelled, memory_order_relaxed) ||
		    !ptc_spot_is_before(at, k->s->stop))
			return false;
		next = next_psb(k->s, (struct ptc_spot){ at.span, at.off + PTC_PSB_LEN });
		if (!make_segment(k, at, next))
			return false;
	}
	return true;
}

void ptc_slice_make(struct ptc_slice *s, struct ptc_slice_worker *w, const atomic_bool *cancelled)
{
	struct making k = { .s = s, .w = w };
	struct ptc_spot at = s->conf.start;

	while (at.span < s->conf.stream->n && make_span(&k, at, cancelled))
		at = (struct ptc_spot){ at.span + 1, 0 };
}
