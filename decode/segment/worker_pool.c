/* SPDX-License-Identifier: MIT */
#include "decode/segment/worker_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/monotonic.h"
#include "decode/segment/queue_decoder.h"
#include "decode/segment/segment.h"

/*
 * Limits of the memory that is kept for other work units: replays and lists of segments; and memory
 * for items, with so many items and records each.
 */
enum { SPARE_MAX = 64, SPARE_ITEMS_MAX = 8, SPARE_ITEMS_CAP = 1 << 14, SPARE_RECS_CAP = 1 << 16 };

/*
 * How long an idle thread looks for work before it sleeps: about the time that waking it takes. A
 * turn is not much longer.
 */
enum { LOOK_NS = 60000, LOOKS = 20 /* between two looks at the clock */ };

struct ptc_pool_thread {
	struct ptc_pool *jobs;
	pthread_t id; /* unused for the caller's thread */
	struct ptc_ipt
		ipt; /* owned; for this thread; the queues' ipt is for the thread with the turn */
	struct ptc_engine *engine;	    /* owned; NULL: libipt only, or the caller's engine */
	struct ptc_work_unit_worker worker; /* read by this thread only */

	/* Protected by the lock. */
	pthread_cond_t wake;
	bool idle; /* waits for wake */
	struct ptc_result_list
		spare_made[SPARE_MAX]; /* owned; memory written last by this thread */
	size_t nspare_made;
	/* owned; memory written last by this thread, in its turns */
	struct ptc_out_room spare_rooms[SPARE_ITEMS_MAX];
	size_t nspare_rooms;
};

struct ptc_pool {
	pthread_mutex_t lock;
	pthread_cond_t done;
	atomic_bool quit;
	atomic_uint news; /* counts what may give a thread work; changed with the lock */
	bool looks;	  /* there is a CPU for each thread */

	/* Protected by the lock. */
	struct ptc_work_unit *first, *last; /* waiting work units; lent */
	struct ptc_pool_thread *turn;	    /* the thread that has the turn to serve; NULL: none */
	/* the thread that should be next; set by the thread with the turn */
	struct ptc_pool_thread *next;
	bool over; /* nothing is left to serve */
	int result;

	/* The function to call. Set before any thread has the turn. */
	int (*serve)(void *ctx, struct ptc_err *err);
	void *ctx;
	struct ptc_err *err;

	/* Used by the thread that created this. */
	struct ptc_pool_thread *threads; /* owned; the first one is for the caller */
	size_t nall, nthreads;		 /* all; running ones */
};

/* Remove @s from the waiting work units. */
static void unlink_slice(struct ptc_pool *j, const struct ptc_work_unit *s)
{
	struct ptc_work_unit *before = NULL, *at = j->first;

	for (; at != s; at = at->next)
		before = at;
	if (before)
		before->next = s->next;
	else
		j->first = s->next;
	if (j->last == s)
		j->last = before;
}

/* Run @s, which waits. With the lock, which is released while the work unit runs. */
static void run_work_unit(struct ptc_pool *j, struct ptc_work_unit *s, struct ptc_pool_thread *t)
{
	unlink_slice(j, s);
	s->state = PTC_WORK_UNIT_RUNS;
	s->maker = t;
	if (t->nspare_made)
		s->made = t->spare_made[--t->nspare_made];
	(void)pthread_mutex_unlock(&j->lock);
	ptc_work_unit_make(s, &t->worker, &j->quit);
	(void)pthread_mutex_lock(&j->lock);
	s->state = PTC_WORK_UNIT_DONE;
	(void)pthread_cond_broadcast(&j->done);
}

/* With the lock: give the turn to @t, which sleeps or will look soon. */
static void pass_to(struct ptc_pool *j, struct ptc_pool_thread *t)
{
	j->turn = t;
	(void)atomic_fetch_add(&j->news, 1);
	if (t && j->threads->worker.engine)
		j->threads->worker.engine->maker = t->worker.engine;
	if (t && t->idle)
		(void)pthread_cond_signal(&t->wake);
}

/*
 * With the lock: use the turn of @t, which is this thread. Then another thread has the turn, or
 * everything is over.
 */
static void take_turn(struct ptc_pool *j, struct ptc_pool_thread *t)
{
	int r;

	(void)pthread_mutex_unlock(&j->lock);
	r = j->serve(j->ctx, j->err);
	(void)pthread_mutex_lock(&j->lock);
	if (r == PTC_QUEUE_DECODER_PASS) {
		pass_to(j, j->next);
		return;
	}
	j->over = true;
	j->result = r;
	pass_to(j, NULL);
	if (j->threads != t && j->threads->idle)
		(void)pthread_cond_signal(&j->threads->wake);
}

/* With the lock, which is released during the search: is there new work before long? */
static bool look_for_news(struct ptc_pool *j)
{
	const unsigned int seen = atomic_load(&j->news);
	const uint64_t end = ptc_monotonic_ns() + LOOK_NS;
	int i;

	if (!j->looks)
		return false;
	(void)pthread_mutex_unlock(&j->lock);
	do {
		for (i = 0; i < LOOKS && atomic_load(&j->news) == seen; i++)
			__builtin_ia32_pause();
	} while (i == LOOKS && ptc_monotonic_ns() < end);
	(void)pthread_mutex_lock(&j->lock);
	return atomic_load(&j->news) != seen;
}

/* With the lock: do one thing in @t, or wait until there may be work. */
static void do_something(struct ptc_pool *j, struct ptc_pool_thread *t)
{
	struct ptc_work_unit *s = j->first;

	if (j->turn == t) {
		take_turn(j, t);
	} else if (s) {
		run_work_unit(j, s, t);
	} else if (!look_for_news(j)) {
		t->idle = true;
		(void)pthread_cond_wait(&t->wake, &j->lock);
		t->idle = false;
	}
}

static void *work(void *ctx)
{
	struct ptc_pool_thread *t = ctx;
	struct ptc_pool *j = t->jobs;

	(void)pthread_mutex_lock(&j->lock);
	while (!atomic_load(&j->quit))
		do_something(j, t);
	(void)pthread_mutex_unlock(&j->lock);
	return NULL;
}

int ptc_pool_serve(struct ptc_pool *j, int (*serve)(void *ctx, struct ptc_err *err), void *ctx,
		   struct ptc_err *err)
{
	j->serve = serve;
	j->ctx = ctx;
	j->err = err;
	(void)pthread_mutex_lock(&j->lock);
	pass_to(j, j->threads);
	while (!j->over)
		do_something(j, j->threads);
	(void)pthread_mutex_unlock(&j->lock);
	return j->result;
}

bool ptc_pool_take(struct ptc_pool *j, struct ptc_work_unit *s)
{
	bool mine;

	(void)pthread_mutex_lock(&j->lock);
	if (s->state == PTC_WORK_UNIT_WAITS)
		run_work_unit(j, s, j->turn);
	mine = s->maker == j->turn;
	j->next = s->maker;
	(void)pthread_mutex_unlock(&j->lock);
	return mine;
}

/* Create what a thread has for itself. */
static int equip(struct ptc_pool_thread *t, const struct ptc_ipt_params *params,
		 const struct ptc_engine *engine, struct ptc_err *err)
{
	int r = ptc_ipt_init(&t->ipt, params, err);

	if (!r && engine)
		r = ptc_engine_new_like(engine, &t->engine, err);
	t->worker.ipt = &t->ipt;
	t->worker.engine = t->engine;
	return r;
}

/* Start all threads but the first. */
static int start(struct ptc_pool *j, size_t n, struct ptc_err *err)
{
	int r = 0;

	while (j->nthreads < n && !r) {
		struct ptc_pool_thread *t = &j->threads[j->nthreads];

		r = equip(t, &j->threads->ipt.params, j->threads->worker.engine, err);
		if (!r && pthread_create(&t->id, NULL, work, t))
			break;
		j->nthreads += !r;
	}
	return r;
}

static bool has_cpus(size_t n)
{
	cpu_set_t set;

	return !sched_getaffinity(0, sizeof(set), &set) && (size_t)CPU_COUNT(&set) >= n;
}

static bool prepare(struct ptc_pool *j, size_t n)
{
	size_t i;

	j->threads = calloc(n, sizeof(*j->threads));
	if (!j->threads)
		return false;
	(void)pthread_mutex_init(&j->lock, NULL);
	(void)pthread_cond_init(&j->done, NULL);
	atomic_init(&j->quit, false);
	atomic_init(&j->news, 0);
	j->looks = has_cpus(n);
	for (i = 0; i < n; i++) {
		(void)pthread_cond_init(&j->threads[i].wake, NULL);
		j->threads[i].jobs = j;
	}
	j->nall = n;
	j->nthreads = 1;
	return true;
}

int ptc_pool_new(unsigned int n, const struct ptc_ipt_params *params, struct ptc_engine *engine,
		 struct ptc_pool **ret, struct ptc_err *err)
{
	struct ptc_pool *j = calloc(1, sizeof(*j));
	int r;

	if (!j || !prepare(j, n)) {
		free(j);
		return ptc_fail_mem(err);
	}
	j->threads->worker.ipt = &j->threads->ipt;
	j->threads->worker.engine = engine;
	r = ptc_ipt_init(&j->threads->ipt, params, err);
	if (!r)
		r = start(j, n, err);
	if (r < 0) {
		ptc_pool_free(j);
		return r;
	}
	*ret = j;
	return 0;
}

void ptc_pool_stop(struct ptc_pool *j)
{
	size_t i;

	(void)pthread_mutex_lock(&j->lock);
	atomic_store(&j->quit, true);
	(void)atomic_fetch_add(&j->news, 1);
	for (i = 1; i < j->nthreads; i++)
		(void)pthread_cond_signal(&j->threads[i].wake);
	(void)pthread_mutex_unlock(&j->lock);
	while (j->nthreads > 1)
		(void)pthread_join(j->threads[--j->nthreads].id, NULL);
}

static void thread_release(struct ptc_pool_thread *t)
{
	while (t->nspare_made)
		ptc_result_list_release(&t->spare_made[--t->nspare_made]);
	while (t->nspare_rooms)
		ptc_out_room_release(&t->spare_rooms[--t->nspare_rooms]);
	ptc_work_unit_worker_release(&t->worker);
	ptc_engine_free(t->engine);
	(void)pthread_cond_destroy(&t->wake);
}

void ptc_pool_free(struct ptc_pool *j)
{
	size_t i;

	if (!j)
		return;
	ptc_pool_stop(j);
	/* The first thread's engine is the caller's, and lives longer. */
	if (j->threads->worker.engine)
		j->threads->worker.engine->maker = NULL;
	for (i = 0; i < j->nall; i++) {
		thread_release(&j->threads[i]);
		ptc_ipt_release(&j->threads[i].ipt);
	}
	free(j->threads);
	(void)pthread_cond_destroy(&j->done);
	(void)pthread_mutex_destroy(&j->lock);
	free(j);
}

/* With the lock: wake one idle thread that can run the next work unit. */
static void wake_one(struct ptc_pool *j)
{
	size_t i;

	for (i = 0; i < j->nthreads; i++) {
		struct ptc_pool_thread *t = &j->threads[i];

		if (t->idle && j->first) {
			t->idle = false; /* the next call wakes another thread */
			(void)pthread_cond_signal(&t->wake);
			return;
		}
	}
}

void ptc_pool_add(struct ptc_pool *j, struct ptc_work_unit *s)
{
	(void)pthread_mutex_lock(&j->lock);
	s->state = PTC_WORK_UNIT_WAITS;
	s->next = NULL;
	if (j->last)
		j->last->next = s;
	else
		j->first = s;
	j->last = s;
	(void)atomic_fetch_add(&j->news, 1);
	wake_one(j);
	(void)pthread_mutex_unlock(&j->lock);
}

void ptc_pool_await(struct ptc_pool *j, struct ptc_work_unit *s)
{
	(void)pthread_mutex_lock(&j->lock);
	while (s->state != PTC_WORK_UNIT_DONE) {
		if (s->state == PTC_WORK_UNIT_WAITS)
			run_work_unit(j, s, j->turn);
		else if (j->first)
			run_work_unit(j, j->first, j->turn);
		else
			(void)pthread_cond_wait(&j->done, &j->lock);
	}
	(void)pthread_mutex_unlock(&j->lock);
}

static bool is_worth_keeping(const struct ptc_out *o)
{
	return o->cap <= SPARE_ITEMS_CAP && o->recs.cap <= SPARE_RECS_CAP;
}

void ptc_pool_lend_room(struct ptc_pool *j, struct ptc_out *o, struct ptc_pool_thread **writer)
{
	struct ptc_pool_thread *t, *was = *writer;

	(void)pthread_mutex_lock(&j->lock);
	t = j->turn;
	if (t != was && o->head == o->n && is_worth_keeping(o) &&
	    !(was && was->nspare_rooms == SPARE_ITEMS_MAX)) {
		if (was) {
			was->spare_rooms[was->nspare_rooms++] = ptc_out_swap_room(
				o, t->nspare_rooms ? t->spare_rooms[--t->nspare_rooms] :
						     (struct ptc_out_room){ .cap = 0 });
		}
		*writer = t;
	}
	(void)pthread_mutex_unlock(&j->lock);
}

void ptc_pool_give_made(struct ptc_pool *j, struct ptc_result_list *made)
{
	struct ptc_pool_thread *t;

	ptc_result_list_renew(made);
	(void)pthread_mutex_lock(&j->lock);
	t = j->turn;
	if (made->cap && t && t->nspare_made < SPARE_MAX) {
		t->spare_made[t->nspare_made++] = *made;
		*made = (struct ptc_result_list){ .n = 0 };
	}
	(void)pthread_mutex_unlock(&j->lock);
	ptc_result_list_release(made);
}
