/* SPDX-License-Identifier: MIT */
/* The second engine of a thread, and how it makes segments, regardless of whose turn they are. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "decode/image/addrspace.h"
#include "decode/segment/segment.h"
#include "decode/stream/psb.h"

/* With less than 30 MB the engine of a thread would forget more than it could use. */
enum { HALVED_MAX = 4 };

int ptc_engine_new(enum ptc_engine_choice choice, const struct ptc_fast_clock *clock, bool timed,
		   struct ptc_engine **ret, struct ptc_err *err)
{
	struct ptc_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return ptc_fail_mem(err);
	if (!ptc_piece_user_init(&e->user)) {
		free(e);
		return ptc_fail_mem(err);
	}
	e->verify = choice == PTC_ENGINE_VERIFY;
	ptc_fast_init(&e->fast, NULL, NULL);
	e->fast.strict = true;
	e->fast.time = (struct ptc_fast_time){ .on = timed, .clock = *clock };
	*ret = e;
	return 0;
}

int ptc_engine_new_like(const struct ptc_engine *e, struct ptc_engine **ret, struct ptc_err *err)
{
	const int r = ptc_engine_new(e->verify ? PTC_ENGINE_VERIFY : PTC_ENGINE_FAST,
				     &e->fast.time.clock, e->fast.time.on, ret, err);

	if (r)
		return r;
	ptc_piece_user_release(&(*ret)->user);
	ptc_piece_user_join(&(*ret)->user, &e->user);
	(*ret)->counts = e->counts;
	return 0;
}

void ptc_engine_share(struct ptc_engine *e, unsigned int n)
{
	/*
	 * Two threads with different code each get the full size limit. Each further doubling
	 * halves it.
	 */
	while (n > 2 && e->user.codes->halved < HALVED_MAX) {
		e->user.codes->halved++;
		n = (n + 1) / 2;
	}
}

void ptc_engine_free(struct ptc_engine *e)
{
	if (!e)
		return;
	ptc_made_room_release(&e->room);
	ptc_made_copy_release(&e->copy);
	ptc_preview_release(&e->preview);
	ptc_fast_release(&e->fast);
	ptc_piece_user_release(&e->user);
	free(e);
}

static size_t read_code(const void *as, uint64_t ip, uint8_t *out, size_t len)
{
	return ptc_addrspace_read(as, ip, out, len);
}

bool ptc_engine_use_code(struct ptc_engine *e, const struct ptc_addrspace *as, int32_t pid,
			 bool begins)
{
	const struct ptc_fast_source source = { read_code, as };
	struct ptc_fast_hand *hand;
	struct ptc_piece_code *k;

	e->user.counts = e->counts;
	k = ptc_piece_codes_use(&e->user, as, pid, begins);
	hand = k ? ptc_piece_code_hand(&e->user, k, &source) : NULL;
	if (hand)
		ptc_fast_use(&e->fast, hand, &k->chains);
	return hand;
}

/* Decodes up to the PSB behind the segment. Returns NULL on success, else why not. */
static const char *decode_to_next_psb(struct ptc_fast *f, const struct ptc_made_view *v,
				      size_t from)
{
	const size_t first = f->flow.nrecs;

	f->cut = !v->ends;
	ptc_fast_begin(f, v->bytes, v->len, from - v->off);
	f->flow.first = f->flow.nrecs = first;
	switch (ptc_fast_run(f)) {
	case PTC_FAST_AT_PSB:
		/*
		 * The end of the view must not hide packets behind the PSB that libipt would use.
		 */
		return v->len - f->pos < PTC_PSB_PLUS_MAX && !v->ends ? "a piece that is too long" :
									NULL;
	case PTC_FAST_DECLINED:
		return f->flow.why ? f->flow.why : "no reason";
	default:
		return "the last piece of a stretch";
	}
}

/*
 * Swaps the record buffers of @room and the engine. If branches are only counted, no buffer is
 * needed.
 */
static void swap_with_engine(struct ptc_fast *f, struct ptc_made_room *room)
{
	const struct ptc_made_room old = *room;

	if (f->counts)
		return;
	room->recs = f->flow.recs;
	room->nrecs = f->flow.nrecs;
	room->recs_cap = f->flow.recs_cap;
	f->flow.recs = old.recs;
	f->flow.nrecs = old.nrecs;
	f->flow.recs_cap = old.recs_cap;
}

/* Counts all branches except the one whose target is not known yet. */
static void count_segment_branches(struct ptc_fast *f, struct ptc_made *m)
{
	f->flow.nrecs -= m->last.listed;
	ptc_fast_flow_count(&f->flow);
	memcpy(m->kinds, f->flow.kinds, sizeof(m->kinds));
}

/* Describes the segment, which was decoded successfully. */
static void describe(struct ptc_fast *f, const struct ptc_made_view *v, struct ptc_made *m)
{
	m->end = v->off + f->psb;
	m->on = f->start.on;
	m->ip = f->start.ip;
	m->mode_before = f->start.mode;
	m->mode = f->flow.mode;
	m->stays_on = ptc_fast_flow_is_on(&f->flow);
	m->insns = f->flow.insns;
	m->last = ptc_fast_flow_last(&f->flow);
	m->n = ptc_fast_flow_passed(&f->flow);
	m->nmarks = f->nmarks;
	m->counted = f->counts;
	if (m->counted)
		count_segment_branches(f, m);
}

/* Copies the marks, which are few. Returns false if out of memory. */
static bool add_marks(const struct ptc_fast *f, struct ptc_made_room *room)
{
	if (!ptc_grow(&room->marks, &room->marks_cap, room->nmarks + f->nmarks,
		      sizeof(*room->marks)))
		return false;
	if (f->nmarks)
		memcpy(room->marks + room->nmarks, f->marks, f->nmarks * sizeof(*f->marks));
	room->nmarks += f->nmarks;
	return true;
}

/* Marks the segment as declined, and removes its records. */
static void take_out(struct ptc_fast *f, struct ptc_made *m, const char *why)
{
	m->why = why;
	f->flow.nrecs = m->recs;
}

void ptc_engine_make(struct ptc_engine *e, const struct ptc_addrspace *as, int32_t pid,
		     const struct ptc_made_view *v, size_t from, struct ptc_made_room *room,
		     struct ptc_made *m)
{
	struct ptc_fast *f = &e->fast;
	const char *why;

	m->pid = pid;
	m->version = ptc_addrspace_version(as);
	m->recs = room->nrecs;
	m->marks = room->nmarks;
	m->n = m->nmarks = 0;
	f->counts = e->counts;
	swap_with_engine(f, room);
	why = ptc_engine_use_code(e, as, pid, true) ? decode_to_next_psb(f, v, from) :
						      "out of memory";
	if (!why && !add_marks(f, room))
		why = "out of memory";
	if (why)
		take_out(f, m, why);
	else
		describe(f, v, m);
	swap_with_engine(f, room);
}
