/* SPDX-License-Identifier: MIT */
#include "decode/segment/scheduler.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "decode/engine/code_cache.h"
#include "decode/segment/queue_decoder.h"
#include "decode/segment/segment.h"
#include "decode/segment/work_unit.h"
#include "decode/segment/worker_pool.h"
#include "decode/timeline/context_timeline.h"

/*
 * ENOUGH_BYTES: less trace is not worth the threads. A work unit costs about as much as LEAST_BYTES
 * of trace. UNITS_EACH: work units for each thread.
 */
enum { ENOUGH_BYTES = 256 << 10, LEAST_BYTES = 4 << 10, UNITS_EACH = 8, MAX_THREADS = 256 };

/*
 * Threads wait for each other where a work unit ends. The
 * thread that made a work unit also serves it: with about RECS records, they are still in its CPU's
 * cache then, or near it. How many records some trace has is measured while decoding. Work units
 * differ, so several per thread keep a thread busy that finishes early.
 */
enum { UNIT_BYTES = 16 << 10, UNIT_MIN = 8 << 10, UNIT_MAX = 64 << 10, RECS = 24 << 10 };

static_assert((int)MAX_THREADS <= (int)PTC_SEGMENT_USERS, "each may have a table of its own");

/* All queues have the same options. */
static const struct ptc_decode_opts *all_opts(const struct ptc_scheduler *p)
{
	return p->lanes->conf.opts;
}

/* True with --engine libipt: libipt fills a window anew for each work unit, so units are large. */
static bool only_libipt(const struct ptc_scheduler *p)
{
	return !p->lanes->conf.engine;
}

static unsigned int threads(const struct ptc_scheduler *p)
{
	const unsigned int jobs = all_opts(p)->jobs;

	return jobs < MAX_THREADS ? jobs : MAX_THREADS;
}

static struct ptc_scheduler_cut no_cut(const struct ptc_queue_decoder *l)
{
	return (struct ptc_scheduler_cut){ { l->stream.n, 0 }, UINT64_MAX };
}

/* Returns the first PSB at or behind @at that has a time, if the trace has times. */
static size_t next_timed(struct ptc_queue_decoder *l, struct ptc_spot at, uint64_t *ret_ns)
{
	const struct ptc_span *sp = &l->stream.spans[at.span];
	const struct ptc_tsc_clock *clock = &l->conf.clock;

	for (; at.off < sp->len; at.off += PTC_PSB_LEN) {
		at.off = ptc_psbs_look(&l->psbs, &l->stream, at);
		if (at.off == sp->len || !clock->valid ||
		    ptc_range_time_at(sp, clock, at.off, ret_ns))
			return at.off;
	}
	return sp->len;
}

/* Returns the first cut at least @bytes behind @from. */
static struct ptc_scheduler_cut cut_behind(struct ptc_queue_decoder *l, struct ptc_spot from,
					   size_t bytes)
{
	const struct ptc_span *sp;
	struct ptc_spot at;
	uint64_t ns = 0;

	for (; from.span < l->stream.n; from = (struct ptc_spot){ from.span + 1, 0 }) {
		sp = &l->stream.spans[from.span];
		if (sp->len - from.off <= bytes) {
			bytes -= sp->len - from.off;
			continue;
		}
		at = (struct ptc_spot){ from.span, from.off + bytes };
		at.off = next_timed(l, at, &ns);
		if (at.off < sp->len)
			return (struct ptc_scheduler_cut){ at, ns };
		bytes = 0;
	}
	return no_cut(l);
}

/* Returns the last time in the trace of @l; UINT64_MAX: not known. */
static uint64_t last_time(const struct ptc_queue_decoder *l)
{
	uint64_t first, last;

	return ptc_range_times(&l->stream, &l->conf.clock, &first, &last) ? last : UINT64_MAX;
}

/*
 * Returns @cut, but nothing behind the part of @l. In front of the part, and behind to.arm, items
 * are checked one by one.
 */
static struct ptc_scheduler_cut in_part(struct ptc_queue_decoder *l, struct ptc_scheduler_cut cut)
{
	struct ptc_spot end = l->part.to.arm;

	if (!l->part.on || ptc_spot_is_before(cut.spot, end))
		return cut;
	cut.spot = end;
	if (end.span < l->stream.n && l->conf.clock.valid &&
	    !ptc_range_time_at(&l->stream.spans[end.span], &l->conf.clock, end.off, &cut.ns))
		return no_cut(l);
	return cut;
}

/* Returns true if a work unit of @l may begin at its cut. */
static bool is_before_end(const struct ptc_queue_decoder *l)
{
	return !l->part.on || ptc_spot_is_before(l->cut.spot, l->part.to.arm);
}

/*
 * Sets the begin of each queue's first work unit: where the queue begins. Returns true if there is
 * a work unit, and enough trace to be worth it.
 */
static bool set_first_unit_begins(struct ptc_scheduler *p)
{
	const size_t enough = all_opts(p)->slice ? 0 : ENOUGH_BYTES;
	uint64_t bytes = 0;
	bool any = false;
	size_t i;

	for (i = 0; i < p->nlanes; i++) {
		struct ptc_queue_decoder *l = &p->lanes[i];

		l->cut = cut_behind(l, l->part.on ? l->part.from.at : l->start, 0);
		if (!is_before_end(l) || !l->live)
			l->cut = no_cut(l);
		l->last_ns = last_time(l);
		any |= l->cut.spot.span < l->stream.n;
		bytes += ptc_range_left(&l->stream, l->start);
		if (l->part.on)
			bytes -= ptc_range_left(&l->stream, l->part.to.arm);
	}
	return any && bytes >= enough;
}

/* Sets the size of the next work units. */
static void set_slice(struct ptc_scheduler *p, size_t bytes)
{
	p->slice = all_opts(p)->slice ? all_opts(p)->slice : bytes;
	p->bytes_max =
		(size_t)UNITS_EACH * threads(p) * (p->slice > LEAST_BYTES ? p->slice : LEAST_BYTES);
}

/* Adapts the size to the number of records in the last work units. */
static void adapt_slice(struct ptc_scheduler *p)
{
	size_t bytes;

	if (p->recs_of < ENOUGH_BYTES || only_libipt(p))
		return;
	bytes = (size_t)((uint64_t)RECS * p->recs_of / (p->recs + 1));
	bytes = bytes < UNIT_MAX ? bytes : UNIT_MAX;
	set_slice(p, bytes > UNIT_MIN ? bytes : UNIT_MIN);
	p->recs = p->recs_of = 0;
}

void ptc_scheduler_stepped(struct ptc_scheduler *p, struct ptc_queue_decoder *l)
{
	if (l->stepped)
		return;
	l->stepped = true;
	p->stepped[p->nstepped++] = (size_t)(l - p->lanes);
}

static void all_stepped(struct ptc_scheduler *p)
{
	size_t i;

	for (i = 0; i < p->nlanes; i++)
		ptc_scheduler_stepped(p, &p->lanes[i]);
}

static int start_jobs(struct ptc_scheduler *p, struct ptc_err *err)
{
	const struct ptc_replay_conf *conf = &p->lanes->conf;
	const unsigned int n = threads(p);

	if (conf->engine)
		ptc_engine_share(conf->engine, n);
	return ptc_pool_new(n, &conf->ipt->params, conf->engine, &p->jobs, err);
}

int ptc_scheduler_new(struct ptc_queue_decoder *lanes, size_t n, struct ptc_timeline *timeline,
		      uint64_t *ahead, struct ptc_scheduler **ret, struct ptc_err *err)
{
	struct ptc_scheduler *p;
	int r;

	*ret = NULL;
	if (!n || lanes->conf.opts->jobs < 2)
		return 0;
	p = calloc(1, sizeof(*p));
	if (!p)
		return ptc_fail_mem(err);
	p->lanes = lanes;
	p->nlanes = n;
	p->timeline = timeline;
	p->ahead = ahead;
	p->stepped = calloc(n, sizeof(*p->stepped));
	if (!p->stepped || !ptc_least_init(&p->cuts, n)) {
		ptc_scheduler_free(p);
		return ptc_fail_mem(err);
	}
	all_stepped(p);
	set_slice(p, only_libipt(p) ? UNIT_MAX : UNIT_BYTES);
	if (!set_first_unit_begins(p)) {
		ptc_scheduler_free(p);
		return 0;
	}
	r = start_jobs(p, err);
	if (r < 0) {
		ptc_scheduler_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void ptc_scheduler_done(struct ptc_scheduler *p, struct ptc_work_unit *s)
{
	p->bytes -= s->bytes;
	p->full = false;
	p->recs += s->nrecs;
	p->recs_of += s->bytes;
	*p->ahead += s->made.taken;
	ptc_timeline_give_back(p->timeline, &s->contexts);
	ptc_pool_give_made(p->jobs, &s->made);
	ptc_work_unit_free(s);
}

void ptc_scheduler_drop(struct ptc_scheduler *p, struct ptc_queue_decoder *l)
{
	struct ptc_work_unit *s = l->planned[0];

	l->nplanned--;
	memmove(l->planned, l->planned + 1, l->nplanned * sizeof(struct ptc_work_unit *));
	ptc_scheduler_done(p, s);
}

void ptc_scheduler_free(struct ptc_scheduler *p)
{
	size_t i;

	if (!p)
		return;
	if (p->jobs)
		ptc_pool_stop(p->jobs);
	for (i = 0; i < p->nlanes; i++) {
		struct ptc_queue_decoder *l = &p->lanes[i];

		while (l->nplanned)
			ptc_scheduler_drop(p, l);
		free(l->planned);
		l->planned = NULL;
		l->planned_cap = 0;
		l->stepped = false;
		ptc_psbs_release(&l->psbs);
		l->serving = NULL;
		l->writer = NULL;
	}
	ptc_pool_free(p->jobs);
	ptc_least_release(&p->cuts);
	free(p->stepped);
	free(p);
}

/* If decoding has passed the cut of @l, finds a new cut. */
static void catch_up(struct ptc_scheduler *p, struct ptc_queue_decoder *l)
{
	const struct ptc_spot at = ptc_replay_spot(l->replay);

	if (!l->nplanned && ptc_spot_is_before(l->cut.spot, at))
		l->cut = cut_behind(l, at, p->slice);
	if (!is_before_end(l))
		l->cut = no_cut(l);
}

static void look_at_cut(struct ptc_scheduler *p, size_t i)
{
	struct ptc_queue_decoder *l = &p->lanes[i];

	l->stepped = false;
	if (l->live && l->cut.spot.span < l->stream.n)
		catch_up(p, l);
	if (l->live && l->cut.spot.span < l->stream.n)
		ptc_least_set(&p->cuts, i, l->cut.ns);
	else
		ptc_least_clear(&p->cuts, i);
}

/* Returns the queue whose next work unit begins first; NULL: no queue has one. */
static struct ptc_queue_decoder *next_lane(struct ptc_scheduler *p)
{
	ptrdiff_t first;
	uint64_t ns;

	while (p->nstepped)
		look_at_cut(p, p->stepped[--p->nstepped]);
	first = ptc_least_first(&p->cuts, &ns);
	return first < 0 ? NULL : &p->lanes[first];
}

static size_t bytes_between(const struct ptc_queue_decoder *l, struct ptc_spot a, struct ptc_spot b)
{
	return (size_t)(ptc_range_left(&l->stream, a) - ptc_range_left(&l->stream, b));
}

static bool hand_out(struct ptc_scheduler *p, struct ptc_queue_decoder *l, struct ptc_work_unit *s)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
	if (!ptc_grow(&l->planned, &l->planned_cap, l->nplanned + 1, sizeof(*l->planned)))
		return false;
	l->planned[l->nplanned++] = s;
	p->bytes += s->bytes;
	ptc_pool_add(p->jobs, s);
	return true;
}

/* Adds the work unit of @l from its cut to @end. Returns false if that is not possible now. */
static bool add_work_unit(struct ptc_scheduler *p, struct ptc_queue_decoder *l,
			  struct ptc_scheduler_cut end)
{
	const size_t lane = (size_t)(l - p->lanes);
	struct ptc_work_unit *s;

	ptc_timeline_move(p->timeline, end.ns);
	ptc_timeline_forget(p->timeline, lane, ptc_replay_time(l->replay));
	ptc_psbs_forget(&l->psbs, ptc_replay_spot(l->replay));
	s = calloc(1, sizeof(*s));
	if (!s || !ptc_timeline_lend(p->timeline, lane, l->cut.ns, &s->contexts)) {
		free(s);
		return false;
	}
	s->conf = l->conf;
	s->conf.psbs = NULL; /* the queue's list still grows */
	ptc_psbs_copy(&l->psbs, l->cut.spot, end.spot, &s->psbs);
	s->conf.start = l->cut.spot;
	s->stop = end.spot;
	s->known =
		(struct ptc_queue_contexts){ .contexts = &s->contexts, .upto = p->timeline->upto };
	s->conf.contexts = &s->known;
	s->batch = PTC_QUEUE_DECODER_BATCH;
	s->bytes = bytes_between(l, l->cut.spot, end.spot);
	if (hand_out(p, l, s))
		return true;
	ptc_timeline_give_back(p->timeline, &s->contexts);
	ptc_work_unit_free(s);
	return false;
}

void ptc_scheduler_fill(struct ptc_scheduler *p)
{
	struct ptc_scheduler_cut end;
	struct ptc_queue_decoder *l;

	adapt_slice(p);
	while (!p->full) {
		p->full = p->bytes >= p->bytes_max;
		l = p->full ? NULL : next_lane(p);
		if (!l)
			break;
		end = in_part(l, cut_behind(l, l->cut.spot, p->slice));
		/* Records behind the end of the queue are not needed. */
		if (end.ns > l->last_ns)
			end.ns = l->last_ns;
		/* Trace behind the requested time must not be counted. */
		if (l->conf.to_ns && end.ns >= l->conf.to_ns)
			l->cut = no_cut(l);
		else if (!ptc_timeline_knows(p->timeline, (size_t)(l - p->lanes), l->cut.ns) ||
			 add_work_unit(p, l, end))
			l->cut = end;
		else
			p->full = true;
		ptc_scheduler_stepped(p, l);
	}
}
