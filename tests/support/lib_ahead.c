/* SPDX-License-Identifier: MIT */
#include "lib_ahead.h"

static const char *take_back(struct ahead *a, struct ptc_replay *r)
{
	const struct ptc_made *m = a->lists[a->at].v;

	if (!a->lent)
		return NULL;
	ptc_replay_set_made(r, NULL);
	if (m->recs != a->recs || m->marks != a->marks)
		return "the memory of a piece went elsewhere";
	ptc_made_list_renew(&a->lists[a->at]);
	a->at ^= 1;
	a->lent = false;
	return NULL;
}

/* The piece that begins at @at. */
static const char *lend(struct ahead *a, struct ptc_replay *r, const struct ptc_span *sp,
			struct ptc_spot at)
{
	struct ptc_made *m = ptc_made_list_add(&a->lists[a->at]);
	struct ptc_made_view v;

	if (!m)
		return "out of memory";
	m->spot = at;
	m->why = ptc_made_look(sp, at.off, a->stop.off, &a->copy, &v);
	if (!m->why)
		ptc_engine_make(a->e, a->as, -1, &v, at.off, m);
	a->recs = m->recs;
	a->marks = m->marks;
	a->lent = true;
	ptc_replay_set_made(r, &a->lists[a->at]);
	return NULL;
}

const char *ahead_serve(struct ahead *a, struct ptc_replay *r, const struct ptc_stream *stream)
{
	const struct ptc_spot at = ptc_replay_spot(r);
	const struct ptc_span *sp = &stream->spans[at.span];
	const char *wrong;
	bool begins;

	if (!a->e || ptc_spot_is_before(at, a->stop))
		return NULL;
	wrong = take_back(a, r);
	if (wrong || at.span == stream->n)
		return wrong;
	begins = ptc_span_next_psb(sp, at.off) == at.off;
	a->stop.span = at.span;
	a->stop.off = ptc_span_next_psb(sp, at.off + (begins ? PTC_PSB_LEN : 0));
	if (a->stop.off >= sp->len)
		a->stop = (struct ptc_spot){ at.span + 1, 0 };
	ptc_replay_set_stop(r, a->stop);
	return begins && a->stop.span == at.span ? lend(a, r, sp, at) : NULL;
}

const char *ahead_close(struct ahead *a, struct ptc_replay *r)
{
	const char *wrong = take_back(a, r);

	ptc_made_list_release(&a->lists[0]);
	ptc_made_list_release(&a->lists[1]);
	ptc_made_copy_release(&a->copy);
	return wrong;
}
