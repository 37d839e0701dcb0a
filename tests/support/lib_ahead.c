/* SPDX-License-Identifier: MIT */
#include "lib_ahead.h"

#include <string.h>

enum { EACH = 3 }; /* segments in a list */

static const char *take_back(struct ahead *a, struct ptc_replay *r)
{
	const struct ptc_result_room *room = &a->lists[a->at].room;

	if (!a->lent)
		return NULL;
	ptc_replay_set_made(r, NULL);
	if (room->recs != a->recs || room->marks != a->marks)
		return "the memory of a list went elsewhere";
	ptc_result_list_renew(&a->lists[a->at]);
	a->at ^= 1;
	a->lent = false;
	return NULL;
}

/* Drops the list while one of its segments is handed over. The items of that segment must stay. */
static void drop(struct ahead *a, struct ptc_replay *r)
{
	struct ptc_result_room *room = &a->lists[a->at].room;

	ptc_replay_set_made(r, NULL);
	if (room->recs)
		memset(room->recs, 0xff, room->recs_cap * sizeof(*room->recs));
	if (room->marks)
		memset(room->marks, 0xff, room->marks_cap * sizeof(*room->marks));
	ptc_result_list_release(&a->lists[a->at]);
	a->lent = false;
}

/* Decodes the segment from @at to @next. False: out of memory. */
static bool make(struct ahead *a, const struct ptc_span *sp, struct ptc_spot at,
		 struct ptc_spot next)
{
	struct ptc_result_list *l = &a->lists[a->at];
	struct ptc_result *m = ptc_result_list_add(l);
	const struct ptc_segment_source source = { .span = sp,
						   .from = at.off,
						   .next = next.off,
						   .clock = a->clock,
						   .contexts = a->contexts };

	if (!m)
		return false;
	m->spot = at;
	ptc_engine_make(a->e, &source, &a->copy, &l->room, m);
	return true;
}

/* Returns the PSB behind @at, or the begin of the next span. */
static struct ptc_spot behind(const struct ptc_span *sp, struct ptc_spot at)
{
	const bool begins = ptc_span_next_psb(sp, at.off) == at.off;
	const size_t psb = ptc_span_next_psb(sp, at.off + (begins ? PTC_PSB_LEN : 0));

	return psb < sp->len ? (struct ptc_spot){ at.span, psb } :
			       (struct ptc_spot){ at.span + 1, 0 };
}

/* Decodes segments from @at on, which is at a PSB. Returns their end. */
static struct ptc_spot lend(struct ahead *a, struct ptc_replay *r, const struct ptc_span *sp,
			    struct ptc_spot at)
{
	const struct ptc_result_list *l = &a->lists[a->at];
	struct ptc_spot next = behind(sp, at);

	for (; l->n < EACH && next.span == at.span; at = next, next = behind(sp, at))
		if (!make(a, sp, at, next))
			break;
	if (!l->n)
		return next;
	a->recs = l->room.recs;
	a->marks = l->room.marks;
	a->lent = true;
	a->stays = !a->stays;
	ptc_replay_set_made(r, &a->lists[a->at]);
	return at;
}

const char *ahead_serve(struct ahead *a, struct ptc_replay *r, const struct ptc_stream *stream)
{
	const struct ptc_spot at = ptc_replay_spot(r);
	const struct ptc_span *sp = &stream->spans[at.span];
	const char *wrong;

	if (a->lent && !a->stays && ptc_replay_is_in_piece(r))
		drop(a, r);
	if (!a->e || ptc_spot_is_before(at, a->stop))
		return NULL;
	wrong = take_back(a, r);
	if (wrong || at.span == stream->n)
		return wrong;
	a->stop = ptc_span_next_psb(sp, at.off) == at.off ? lend(a, r, sp, at) : behind(sp, at);
	ptc_replay_set_stop(r, a->stop);
	return NULL;
}

const char *ahead_close(struct ahead *a, struct ptc_replay *r)
{
	const char *wrong = take_back(a, r);

	ptc_result_list_release(&a->lists[0]);
	ptc_result_list_release(&a->lists[1]);
	ptc_result_copy_release(&a->copy);
	return wrong;
}
