/* SPDX-License-Identifier: MIT */
/* The second engine of a thread, and how it makes segments, regardless of whose turn they are. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "decode/engine/psb_lookahead.h"
#include "decode/image/addrspace.h"
#include "decode/segment/segment.h"
#include "decode/stream/psb.h"

const char PTC_SEGMENT_CUT_SHORT[] = "side records, or the end of what is wanted";

/* With less than 30 MB the engine of a thread would forget more than it could use. */
enum { HALVED_MAX = 4 };

int ptc_engine_new(enum ptc_engine_choice choice, const struct ptc_fast_clock *clock, bool timed,
		   struct ptc_engine **ret, struct ptc_err *err)
{
	struct ptc_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return ptc_fail_mem(err);
	if (!ptc_segment_user_init(&e->user)) {
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
	ptc_segment_user_release(&(*ret)->user);
	ptc_segment_user_join(&(*ret)->user, &e->user);
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
	ptc_result_room_release(&e->room);
	ptc_result_copy_release(&e->copy);
	ptc_fast_release(&e->fast);
	ptc_segment_user_release(&e->user);
	free(e);
}

static size_t read_code(const void *as, uint64_t ip, uint8_t *out, size_t len)
{
	return ptc_addrspace_read(as, ip, out, len);
}

static bool use_code(struct ptc_engine *e, const struct ptc_addrspace *as, int32_t pid, bool begins)
{
	const struct ptc_fast_source source = { read_code, as };
	struct ptc_fast_hand *hand;
	struct ptc_segment_code *k;

	e->user.counts = e->counts;
	k = ptc_segment_codes_use(&e->user, as, pid, begins);
	hand = k ? ptc_segment_code_hand(&e->user, k, &source) : NULL;
	if (hand)
		ptc_fast_use(&e->fast, hand, &k->chains);
	return hand;
}

/*
 * Limits of a segment: processes whose code changes, and contexts. Each context is compared with
 * the earlier ones.
 */
enum { CHANGING_MAX = 8, CONTEXTS_MAX = 1024 };

/* The engine makes a segment: the contexts up to the current place. */
struct turning {
	struct ptc_engine *e;
	const struct ptc_segment_source *s;
	size_t now;  /* index of the current context */
	size_t code; /* index of the context whose code is used */
	/*
	 * If not exact, a process has the code that it had when the segment came to it first. Most
	 * changes are of code that the segment does not use.
	 */
	bool exact;
	bool changed; /* a context has other code of its process than that */
	/* exact: the code of each process now. Not shared with other threads, so it may change */
	struct ptc_addrspace spaces[CHANGING_MAX];
	int32_t pids[CHANGING_MAX];
	size_t nspaces;
};

static const struct ptc_context *context_of(const struct turning *t, size_t i)
{
	return &t->s->contexts->contexts->v[i];
}

/* Returns the first context of the segment with the process of context @i. */
static size_t first_of_process(const struct turning *t, size_t i)
{
	size_t first = t->s->first;

	while (context_of(t, first)->pid != context_of(t, i)->pid)
		first++;
	return first;
}

/* Returns the code of context @i, or NULL: too many processes. */
static const struct ptc_addrspace *code_of(struct turning *t, size_t i)
{
	const struct ptc_context *c = context_of(t, i);
	size_t k = 0;

	if (!t->exact)
		return &c->view->as;
	while (k < t->nspaces && t->pids[k] != c->pid)
		k++;
	if (k == CHANGING_MAX)
		return NULL;
	if (k == t->nspaces)
		t->pids[t->nspaces++] = c->pid;
	t->spaces[k] = c->view->as;
	t->spaces[k].state = 0;
	return &t->spaces[k];
}

static bool get_code(void *ctx, struct ptc_fast *f)
{
	struct turning *t = ctx;
	const struct ptc_addrspace *as = code_of(t, t->code);

	f->flow.why = as ? "out of memory" : "code of many processes changes";
	return as && use_code(t->e, as, context_of(t, t->code)->pid, false);
}

static bool same_thread(const struct ptc_context *a, const struct ptc_context *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

static enum ptc_fast_turn change_context_at_tsc(void *ctx, struct ptc_fast *f, uint64_t tsc)
{
	struct turning *t = ctx;
	const struct ptc_queue_contexts *known = t->s->contexts;
	const uint64_t ns = ptc_tsc_clock_ns(t->s->clock, tsc, t->s->span->reference);
	const size_t was = t->now, code = t->code;

	f->flow.why = PTC_SEGMENT_CUT_SHORT;
	if ((t->s->to_ns && ns >= t->s->to_ns) || !ptc_queue_contexts_upto(known, ns))
		return PTC_FAST_NO_TURN;
	while (t->now + 1 < known->contexts->n && context_of(t, t->now + 1)->from_ns <= ns)
		if (context_of(t, ++t->now)->lost)
			return PTC_FAST_NO_TURN;
	if (t->now == was)
		return PTC_FAST_SAME;
	f->flow.why = "too many context switches";
	if (t->now - t->s->first > CONTEXTS_MAX)
		return PTC_FAST_NO_TURN;
	t->code = t->exact ? t->now : first_of_process(t, t->now);
	t->changed |= context_of(t, t->code)->view != context_of(t, t->now)->view;
	if (context_of(t, t->code)->view != context_of(t, code)->view &&
	    !ptc_fast_change(f, get_code, t))
		return PTC_FAST_NO_TURN;
	return same_thread(context_of(t, t->now), context_of(t, was)) ? PTC_FAST_SAME :
									PTC_FAST_TURN;
}

/* Returns true if the engine may have used code that changed between the versions of @as. */
static bool uses_changed(const struct turning *t, int32_t pid, const struct ptc_addrspace *as,
			 const struct ptc_addrspace *was, const struct ptc_addrspace *now)
{
	uint64_t version;

	for (version = was->version + 1; version <= now->version; version++) {
		const struct ptc_change *c = ptc_addrspace_change(now, version);

		if (!c || ptc_segment_codes_know(&t->e->user, as, pid, c->start, c->end))
			return true;
	}
	return false;
}

/* Returns true if the segment may have used code that changed before its end. */
static bool used_old_code(const struct turning *t)
{
	size_t i, first;

	for (i = t->s->first + 1; i <= t->now; i++) {
		const struct ptc_addrspace *was, *now = &context_of(t, i)->view->as;

		first = first_of_process(t, i);
		was = &context_of(t, first)->view->as;
		if (uses_changed(t, context_of(t, i)->pid, was, was, now) ||
		    (now->kernel && (!was->kernel || uses_changed(t, context_of(t, i)->pid, was,
								  was->kernel, now->kernel))))
			return true;
	}
	return false;
}

/* Decodes up to the PSB behind the segment. Returns NULL on success, else why not. */
static const char *decode_to_next_psb(struct ptc_fast *f, const struct ptc_result_view *v,
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
static void swap_with_engine(struct ptc_fast *f, struct ptc_result_room *room)
{
	const struct ptc_result_room old = *room;

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
static void count_segment_branches(struct ptc_fast *f, struct ptc_result *m)
{
	f->flow.nrecs -= m->last.listed;
	ptc_fast_flow_count(&f->flow);
	memcpy(m->kinds, f->flow.kinds, sizeof(m->kinds));
}

/* Describes the segment, which was decoded successfully. */
static void describe(struct ptc_fast *f, const struct ptc_result_view *v, struct ptc_result *m)
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
static bool add_marks(const struct ptc_fast *f, struct ptc_result_room *room)
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
static void take_out(struct ptc_fast *f, struct ptc_result *m, const char *why)
{
	m->why = why;
	f->flow.nrecs = m->recs;
}

static void make_from_view(struct turning *t, const struct ptc_result_view *v,
			   struct ptc_result_room *room, struct ptc_result *m)
{
	const struct ptc_context *c = context_of(t, t->s->first);
	struct ptc_engine *e = t->e;
	struct ptc_fast *f = &e->fast;
	const char *why;

	t->now = t->code = t->s->first;
	t->changed = false;
	m->pid = c->pid;
	m->tid = c->tid;
	m->cpu = c->cpu;
	m->version = ptc_addrspace_version(&c->view->as);
	m->recs = room->nrecs;
	m->marks = room->nmarks;
	m->n = m->nmarks = 0;
	m->why = NULL;
	f->counts = e->counts && !t->s->listing;
	f->plain = e->counts && t->s->listing; /* chains of a counting engine have no records */
	f->ask = change_context_at_tsc;
	f->asked = t;
	swap_with_engine(f, room);
	why = use_code(e, code_of(t, t->now), c->pid, true) ? decode_to_next_psb(f, v, t->s->from) :
							      "out of memory";
	if (!why && !add_marks(f, room))
		why = "out of memory";
	if (why)
		take_out(f, m, why);
	else
		describe(f, v, m);
	swap_with_engine(f, room);
	f->ask = NULL;
}

/* @far: see ptc_result_look(). */
static void make_exactly(struct turning *t, bool far, struct ptc_result_copy *copy,
			 struct ptc_result_room *room, struct ptc_result *m)
{
	const struct ptc_segment_source *s = t->s;
	struct ptc_result_view v;

	m->why = ptc_result_look(s->span, s->from, s->next, far, copy, &v);
	if (m->why)
		return;
	make_from_view(t, &v, room, m);
	if (!t->changed || (!m->why && !used_old_code(t)))
		return;
	if (!m->why)
		room->nmarks = m->marks;
	if (!m->why && !m->counted)
		room->nrecs = m->recs;
	t->exact = true;
	make_from_view(t, &v, room, m);
	t->exact = false;
	t->nspaces = 0;
}

void ptc_engine_make(struct ptc_engine *e, const struct ptc_segment_source *s,
		     struct ptc_result_copy *copy, struct ptc_result_room *room,
		     struct ptc_result *m)
{
	struct turning t = { .e = e, .s = s };

	make_exactly(&t, false, copy, room, m);
	if (m->why == PTC_FAST_TOO_SHORT)
		make_exactly(&t, true, copy, room, m);
}
