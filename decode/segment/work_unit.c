/* SPDX-License-Identifier: MIT */
#include "decode/segment/work_unit.h"

#include <stdlib.h>
#include <string.h>

#include "decode/segment/segment.h"

/*
 * RECS_MAX: approximate limit of a work unit, in records: 64 MiB, for any trace. ITEM_RECS: records
 * with the size of an item.
 */
enum { RECS_MAX = 4 << 20, ITEM_RECS = 4 };

void ptc_work_unit_worker_release(struct ptc_work_unit_worker *w)
{
	size_t i;

	ptc_replay_free(w->replay);
	ptc_notes_release(&w->notes);
	for (i = 0; i < PTC_WORK_UNIT_SPACES; i++)
		ptc_ipt_forget_images(&w->spaces[i]);
	ptc_result_copy_release(&w->copy);
}

void ptc_work_unit_free(struct ptc_work_unit *s)
{
	if (!s)
		return;
	ptc_result_list_release(&s->made);
	ptc_psbs_release(&s->psbs);
	free(s);
}

/* Returns the context at the PSB at @at. NULL: not known here. */
static const struct ptc_context *context_at(const struct ptc_work_unit *s,
					    const struct ptc_span *sp, size_t at)
{
	uint64_t ns = 0;

	if (s->conf.clock.valid && ptc_range_next_timed(sp, &s->conf.clock, at, &ns) != at)
		return NULL;
	if (ns > s->known.upto || ns < s->contexts.v[0].from_ns)
		return NULL;
	return ptc_context_at(&s->contexts, ns);
}

/*
 * Makes the segment between the PSBs at @at and @next with the engine. Returns NULL, or why not: a
 * literal.
 */
static const char *make_with_engine(struct ptc_work_unit *s, struct ptc_work_unit_worker *w,
				    struct ptc_spot at, size_t next)
{
	const struct ptc_span *sp = &s->conf.stream->spans[at.span];
	const struct ptc_context *c = context_at(s, sp, at.off);
	struct ptc_segment_source source = { .span = sp,
					     .from = at.off,
					     .next = next,
					     .clock = &s->conf.clock,
					     .contexts = &s->known,
					     .to_ns = s->conf.to_ns };
	struct ptc_result *m;

	if (!c)
		return PTC_SEGMENT_CUT_SHORT;
	source.first = (size_t)(c - s->contexts.v);
	m = ptc_result_list_add(&s->made);
	if (!m)
		return "out of memory";
	m->spot = at;
	ptc_engine_make(w->engine, &source, &w->copy, &s->made.room, m);
	s->nrecs += m->counted ? m->nmarks : m->n;
	if (m->why && !w->engine->verify)
		ptc_result_list_drop(&s->made);
	return m->why;
}

/* Makes the segment at @at. Returns where the next one begins. */
static size_t make(struct ptc_work_unit *s, struct ptc_work_unit_worker *w, struct ptc_spot at,
		   size_t next)
{
	const char *why = w->engine ? make_with_engine(s, w, at, next) : NULL;
	const size_t items = s->made.room.nitems;
	size_t end;

	/*
	 * In its turn, the engine may know more of the contexts. Verify: libipt decodes all of it
	 * in its turn.
	 */
	if (w->engine && (!why || why == PTC_SEGMENT_CUT_SHORT || w->engine->verify))
		return next;
	end = ptc_segment_make_items(s, w, at, why);
	s->nrecs += (s->made.room.nitems - items) * ITEM_RECS;
	return end < SIZE_MAX && end > next ? end : next;
}

static size_t next_psb(const struct ptc_work_unit *s, struct ptc_spot at)
{
	const size_t psb = ptc_psbs_find(&s->psbs, at);

	return psb < SIZE_MAX ? psb : ptc_span_next_psb(&s->conf.stream->spans[at.span], at.off);
}

/* Makes the segments of the span that @at is in. Returns false if the work unit ends there. */
static bool make_span(struct ptc_work_unit *s, struct ptc_work_unit_worker *w, struct ptc_spot at,
		      const atomic_bool *cancelled)
{
	const struct ptc_span *sp = &s->conf.stream->spans[at.span];

	for (at.off = next_psb(s, at); at.off < sp->len;) {
		if (atomic_load_explicit(cancelled, memory_order_relaxed) ||
		    !ptc_spot_is_before(at, s->stop) || s->nrecs >= RECS_MAX)
			return false;
		at.off = make(s, w, at,
			      next_psb(s, (struct ptc_spot){ at.span, at.off + PTC_PSB_LEN }));
	}
	return true;
}

void ptc_work_unit_make(struct ptc_work_unit *s, struct ptc_work_unit_worker *w,
			const atomic_bool *cancelled)
{
	struct ptc_spot at = s->conf.start;

	w->at.span = SIZE_MAX;
	while (at.span < s->conf.stream->n && make_span(s, w, at, cancelled))
		at = (struct ptc_spot){ at.span + 1, 0 };
}
