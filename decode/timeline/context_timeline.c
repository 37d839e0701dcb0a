/* SPDX-License-Identifier: MIT */
#include "decode/timeline/context_timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/sorted.h"

/*
 * Limit for the bytes of views and contexts. Above it the timeline waits until some are given back.
 */
enum { WEIGHT_MAX = 128 << 20 };

/*
 * The first step of a search in the future, and its limit in contexts: a damaged trace can search
 * at each PSB.
 */
enum { STEP_NS = 1 << 20, LOOK_MAX = 4096 };

/* A list of queues that a record concerns. */
struct ptc_touched {
	const struct ptc_queue_lists *lists;
	int32_t id;
};

static int open_records(struct ptc_timeline *s, struct ptc_err *err)
{
	const struct ptc_sideband *theirs = s->conf.sideband;

	ptc_procs_init_beside(&s->ahead, s->conf.procs);
	s->sideband.added = theirs->added;
	s->sideband.nadded = theirs->nadded;
	s->sideband.ids = theirs->ids;
	s->sideband.nids = theirs->nids;
	return ptc_sideband_open(&s->sideband, theirs->file, theirs->no_rounds, err);
}

static bool init_lists(struct ptc_timeline *s)
{
	const size_t n = s->conf.queues->n;
	size_t i;

	if (!ptc_queue_lists_init(&s->of_cpu, n) || !ptc_queue_lists_init(&s->of_tid, n) ||
	    !ptc_queue_lists_init(&s->of_pid, n))
		return false;
	for (i = 0; i < n; i++)
		if (!ptc_queue_lists_move(&s->of_cpu, i, s->conf.queues->ids[i].cpu))
			return false;
	return true;
}

int ptc_timeline_new(const struct ptc_timeline_conf *conf, struct ptc_timeline **ret,
		     struct ptc_err *err)
{
	struct ptc_timeline *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return ptc_fail_mem(err);
	s->conf = *conf;
	s->procs = conf->timed ? &s->ahead : conf->procs;
	s->lanes = calloc(conf->queues->n ? conf->queues->n : 1, sizeof(*s->lanes));
	if (!s->lanes || !init_lists(s))
		r = ptc_fail_mem(err);
	if (!r && conf->timed)
		r = open_records(s, err);
	if (r < 0) {
		ptc_timeline_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

static void drop_oldest_contexts(struct ptc_timeline *s, struct ptc_contexts *c, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		s->weight -= ptc_view_put(c->v[i].view);
		s->weight -= sizeof(*c->v);
	}
	c->n -= n;
	if (c->n)
		memmove(c->v, c->v + n, c->n * sizeof(*c->v));
}

void ptc_timeline_give_back(struct ptc_timeline *s, struct ptc_contexts *c)
{
	drop_oldest_contexts(s, c, c->n);
	free(c->v);
	*c = (struct ptc_contexts){ .ended = c->ended };
}

void ptc_timeline_free(struct ptc_timeline *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; s->lanes && i < s->conf.queues->n; i++)
		ptc_timeline_give_back(s, &s->lanes[i]);
	free(s->lanes);
	ptc_sideband_close(&s->sideband);
	ptc_procs_release(&s->ahead);
	ptc_queue_lists_release(&s->of_cpu);
	ptc_queue_lists_release(&s->of_tid);
	ptc_queue_lists_release(&s->of_pid);
	free(s->touched);
	(void)ptc_view_put(s->nobody);
	(void)ptc_view_put(s->kernel_view);
	free(s);
}

/* Makes *@v a view of @as, with @kernel behind it. Returns false if out of memory. */
static bool renew(struct ptc_timeline *s, struct ptc_view **v, const struct ptc_addrspace *as,
		  struct ptc_view *kernel)
{
	if (*v && ptc_view_is_of(*v, as))
		return true;
	s->weight -= ptc_view_put(*v);
	*v = ptc_view_new(as, kernel, ++s->views);
	if (*v)
		s->weight += (*v)->weight;
	return *v;
}

/*
 * Returns a view of what @p (NULL: unknown) has mapped now. The caller must release it with
 * ptc_view_put(). NULL: out of memory.
 */
static struct ptc_view *view_of(struct ptc_timeline *s, struct ptc_proc *p)
{
	const struct ptc_addrspace *as = p ? &p->as : &s->procs->nobody;
	struct ptc_view **v = p ? &p->view : &s->nobody;

	if (as->kernel && !renew(s, &s->kernel_view, as->kernel, NULL))
		return NULL;
	return renew(s, v, as, s->kernel_view) ? ptc_view_get(*v) : NULL;
}

/* Appends @x, and moves its reference to @c. */
static bool append_context(struct ptc_timeline *s, struct ptc_contexts *c,
			   const struct ptc_context *x)
{
	if (!ptc_grow(&c->v, &c->cap, c->n + 1, sizeof(*c->v)))
		return false;
	c->v[c->n++] = *x;
	s->weight += sizeof(*x);
	return true;
}

static bool same(const struct ptc_timeline *s, const struct ptc_context *c,
		 const struct ptc_runner *who)
{
	const struct ptc_view *view = who->proc ? who->proc->view : s->nobody;

	return c->pid == who->pid && c->tid == who->tid && c->cpu == who->cpu && c->view == view &&
	       ptc_view_is_of(view, who->proc ? &who->proc->as : &s->procs->nobody);
}

/* Records that the context is as the processes are now, from @time on. @lost: of the queue. */
static bool record_context(struct ptc_timeline *s, size_t lane, uint64_t time, bool lost)
{
	struct ptc_contexts *c = &s->lanes[lane];
	const struct ptc_queue_id *q = &s->conf.queues->ids[lane];
	const struct ptc_runner who = ptc_procs_runner(s->procs, q->tid, q->cpu);
	struct ptc_context x = {
		.from_ns = time, .pid = who.pid, .tid = who.tid, .cpu = who.cpu, .lost = lost
	};

	if (c->ended || (c->n && !lost && same(s, &c->v[c->n - 1], &who)))
		return true;
	x.view = view_of(s, who.proc);
	if (!x.view)
		return false;
	/* A context that lasted no time is useless. */
	if (c->n && c->v[c->n - 1].from_ns == time) {
		x.lost |= c->v[c->n - 1].lost;
		c->n--;
		s->weight -= ptc_view_put(c->v[c->n].view) + sizeof(x);
	}
	if (append_context(s, c, &x))
		return ptc_queue_lists_move(&s->of_tid, lane, x.tid) &&
		       ptc_queue_lists_move(&s->of_pid, lane, x.pid);
	s->weight -= ptc_view_put(x.view);
	return false;
}

static bool note_all(struct ptc_timeline *s, uint64_t time)
{
	size_t i;

	for (i = 0; i < s->conf.queues->n; i++)
		if (!record_context(s, i, time, false))
			return false;
	return true;
}

/* The queues in the list of @id may get other contexts. Returns false if out of memory. */
static bool touch(struct ptc_timeline *s, const struct ptc_queue_lists *lists, int32_t id)
{
	if (!ptc_grow(&s->touched, &s->touched_cap, s->ntouched + 1, sizeof(*s->touched)))
		return false;
	s->touched[s->ntouched++] = (struct ptc_touched){ lists, id };
	return true;
}

/* The code of @pid may change. @pid is also its first thread, which needs no record of its own. */
static bool touch_process(struct ptc_timeline *s, int32_t pid)
{
	return touch(s, &s->of_pid, pid) && touch(s, &s->of_tid, pid);
}

/* Finds the queues that @ev, which is not applied yet, may change. False: out of memory. */
static bool touch_by(struct ptc_timeline *s, const struct ptc_event *ev)
{
	const struct ptc_sb *sb = &ev->sb;

	if (sb->id.has & PERF_SAMPLE_CPU && !touch(s, &s->of_cpu, (int32_t)sb->id.cpu))
		return false;
	if (sb->id.has & PERF_SAMPLE_TID && !touch(s, &s->of_tid, sb->id.tid))
		return false;
	switch (sb->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return touch(s, &s->of_tid, sb->u.mmap.tid) && touch_process(s, sb->u.mmap.pid);
	case PERF_RECORD_COMM:
		return touch(s, &s->of_tid, sb->u.comm.tid) && touch_process(s, sb->u.comm.pid);
	case PERF_RECORD_FORK:
		return touch(s, &s->of_tid, sb->u.task.tid) && touch_process(s, sb->u.task.pid);
	case PERF_RECORD_TEXT_POKE:
		return touch_process(s, sb->id.pid);
	case PERF_RECORD_ITRACE_START:
		return touch(s, &s->of_tid, sb->u.itrace_start.tid);
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return touch(s, &s->of_tid, sb->u.sw.next_prev_tid);
	default:
		return true;
	}
}

static bool note_touched(struct ptc_timeline *s, uint64_t time)
{
	size_t i, lane, next;

	for (i = 0; i < s->ntouched; i++) {
		const struct ptc_touched *t = &s->touched[i];

		for (lane = ptc_queue_lists_first(t->lists, t->id); lane < SIZE_MAX; lane = next) {
			next = ptc_queue_lists_next(t->lists, lane);
			if (!record_context(s, lane, time, false))
				return false;
		}
	}
	return true;
}

/* A loss of records of one queue becomes a context of its own. */
static bool note_lost(struct ptc_timeline *s, const struct ptc_event *ev, uint64_t time)
{
	const size_t lane = ev->sb.type == PERF_RECORD_LOST ?
				    ptc_queue_map_find(s->conf.queues, &ev->sb.id) :
				    SIZE_MAX;

	return lane == SIZE_MAX || record_context(s, lane, time, true);
}

/*
 * Applies all records up to the time of the next one, which is not after @time. Returns false if
 * there is none, or on failure.
 */
static bool take_moment(struct ptc_timeline *s, uint64_t time)
{
	const struct ptc_event *ev = ptc_sideband_peek(&s->sideband, time);
	const uint64_t kernel = s->procs->kernel.as.version;
	struct ptc_err err;
	uint64_t now;

	if (!ev)
		return false;
	/* A late record counts from its arrival. */
	now = ev->time > s->upto ? ev->time : s->upto;
	s->ntouched = 0;
	while (!s->failed && (ev = ptc_sideband_peek(&s->sideband, now)) != NULL)
		s->failed = !touch_by(s, ev) || !note_lost(s, ev, now) ||
			    ptc_sideband_apply(&s->sideband, s->procs, &err) < 0;
	if (!s->failed && s->procs->kernel.as.version != kernel)
		s->failed = !note_all(s, now);
	s->failed = s->failed || !note_touched(s, now);
	if (!s->failed)
		s->upto = now;
	return !s->failed;
}

void ptc_timeline_move(struct ptc_timeline *s, uint64_t time)
{
	if (s->failed || !s->conf.queues->n || (time <= s->upto && s->begun))
		return;
	if (!s->begun && !note_all(s, 0))
		s->failed = true;
	s->begun = true;
	if (!s->conf.timed) {
		s->upto = UINT64_MAX;
		return;
	}
	while (!s->failed && s->weight < WEIGHT_MAX && take_moment(s, time))
		;
	if (!s->failed && s->weight < WEIGHT_MAX)
		s->upto = time;
}

const struct ptc_context *ptc_context_at(const struct ptc_contexts *c, uint64_t time)
{
	return &c->v[PTC_PARTITION_POINT(i, 1, c->n, c->v[i].from_ns <= time) - 1];
}

bool ptc_queue_contexts_upto(const struct ptc_queue_contexts *k, uint64_t ns)
{
	if (!k->scout)
		return ns <= k->upto;
	ptc_timeline_move(k->scout, ns);
	return !k->scout->failed && ns <= k->scout->upto && k->contexts->n;
}

/* Returns true if the views have the same code at @ip, the kernel aside. */
static bool same_code(const struct ptc_view *a, const struct ptc_view *b, uint64_t ip)
{
	struct ptc_addrspace was = a->as, now = b->as;
	const struct ptc_range *x, *y;

	was.kernel = now.kernel = NULL;
	x = ptc_addrspace_find(&was, ip);
	y = ptc_addrspace_find(&now, ip);
	if ((x && y) ? x->file != y->file || x->off - x->start != y->off - y->start : x != y)
		return false;
	return ptc_addrspace_has(&was, ip) == ptc_addrspace_has(&now, ip);
}

/* Returns the first context behind @from, up to @upto, with other code at @ip; NULL: none. */
static const struct ptc_context *find_other_code(const struct ptc_contexts *c, uint64_t from,
						 uint64_t ip, uint64_t upto)
{
	const struct ptc_context *now = ptc_context_at(c, from), *x;

	for (x = now + 1; x < c->v + c->n && x->from_ns <= upto && x - now <= LOOK_MAX; x++)
		if (x->pid == now->pid && !same_code(now->view, x->view, ip))
			return x;
	return NULL;
}

uint64_t ptc_queue_contexts_next_code(const struct ptc_queue_contexts *k, uint64_t from,
				      uint64_t ip, uint64_t upto, bool *ret_known)
{
	const struct ptc_context *x;
	uint64_t to = from, step = STEP_NS;

	/* Contexts take memory, so the search reads on in steps. */
	do {
		to = upto - to > step ? to + step : upto;
		step = step < UINT64_MAX / 2 ? 2 * step : UINT64_MAX;
		*ret_known = ptc_queue_contexts_upto(k, to);
		x = k->contexts->n ? find_other_code(k->contexts, from, ip, upto) : NULL;
	} while (!x && *ret_known && to < upto);
	*ret_known |= x != NULL;
	return x ? x->from_ns : 0;
}

bool ptc_timeline_lend(struct ptc_timeline *s, size_t lane, uint64_t from, struct ptc_contexts *ret)
{
	const struct ptc_contexts *c = &s->lanes[lane];
	const struct ptc_context *x;

	*ret = (struct ptc_contexts){ .n = 0 };
	if (!c->n || from > s->upto)
		return false;
	for (x = ptc_context_at(c, from); x < c->v + c->n; x++) {
		if (!append_context(s, ret, x)) {
			ptc_timeline_give_back(s, ret);
			return false;
		}
		(void)ptc_view_get(x->view);
	}
	return true;
}

void ptc_timeline_end(struct ptc_timeline *s, size_t lane)
{
	s->lanes[lane].ended = true;
	ptc_timeline_give_back(s, &s->lanes[lane]);
}

void ptc_timeline_forget(struct ptc_timeline *s, size_t lane, uint64_t time)
{
	struct ptc_contexts *c = &s->lanes[lane];

	const size_t old = c->n ? (size_t)(ptc_context_at(c, time) - c->v) : 0;

	/* All contexts move, so there must be as many to drop. */
	if (old > c->n / 2)
		drop_oldest_contexts(s, c, old);
}

bool ptc_timeline_knows(const struct ptc_timeline *s, size_t lane, uint64_t from)
{
	return !s->lanes[lane].n || s->lanes[lane].v[0].from_ns <= from;
}
