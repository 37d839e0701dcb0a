/* SPDX-License-Identifier: MIT */
#include "decode/jobs.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/err.h"
#include "decode/piece.h"

/* Replays, and lists of pieces, that are kept for another slice. */
enum { SPARE_MAX = 64 };

struct thread {
	struct ptc_jobs *jobs;
	pthread_t id;
	struct ptc_ipt ipt; /* owned: threads that share a cache of sections wait for each other */
	struct ptc_engine *engine;	/* owned; NULL: libipt alone */
	struct ptc_slice_worker worker; /* its own; read by nobody else */
};

struct ptc_jobs {
	pthread_mutex_t lock;
	pthread_cond_t added, done;
	atomic_bool quit;

	/* By the lock. */
	struct ptc_slice *first, *last;	     /* that wait; lent */
	struct ptc_replay *spare[SPARE_MAX]; /* owned */
	size_t nspare;
	struct ptc_made_list spare_made[SPARE_MAX]; /* owned */
	size_t nspare_made;

	/* Of the thread that made it. */
	struct ptc_slice_worker self;
	struct thread *threads; /* owned */
	size_t nthreads, nipts; /* that run; that have a cache */
};

/* Take @s out of those that wait. */
static void unlink_slice(struct ptc_jobs *j, const struct ptc_slice *s)
{
	struct ptc_slice *before = NULL, *at = j->first;

	for (; at != s; at = at->next)
		before = at;
	if (before)
		before->next = s->next;
	else
		j->first = s->next;
	if (j->last == s)
		j->last = before;
}

/* With the lock, which is not held meanwhile. */
static void run_replay(struct ptc_jobs *j, struct ptc_slice *s, struct ptc_slice_worker *w)
{
	struct ptc_replay *replay = j->nspare ? j->spare[--j->nspare] : NULL;

	(void)pthread_mutex_unlock(&j->lock);
	ptc_slice_run(s, w, replay, &j->quit);
	(void)pthread_mutex_lock(&j->lock);
}

/* The same. */
static void run_engine(struct ptc_jobs *j, struct ptc_slice *s, struct ptc_slice_worker *w)
{
	if (j->nspare_made)
		s->made = j->spare_made[--j->nspare_made];
	(void)pthread_mutex_unlock(&j->lock);
	ptc_slice_make(s, w, &j->quit);
	(void)pthread_mutex_lock(&j->lock);
}

/* The same. @s waits. */
static void run(struct ptc_jobs *j, struct ptc_slice *s, struct ptc_slice_worker *w)
{
	unlink_slice(j, s);
	s->state = PTC_SLICE_RUNS;
	if (s->pieces)
		run_engine(j, s, w);
	else
		run_replay(j, s, w);
	s->state = PTC_SLICE_DONE;
	(void)pthread_cond_broadcast(&j->done);
}

static void *work(void *ctx)
{
	struct thread *t = ctx;
	struct ptc_jobs *j = t->jobs;

	(void)pthread_mutex_lock(&j->lock);
	while (!atomic_load(&j->quit)) {
		if (j->first)
			run(j, j->first, &t->worker);
		else
			(void)pthread_cond_wait(&j->added, &j->lock);
	}
	(void)pthread_mutex_unlock(&j->lock);
	return NULL;
}

/* What a thread has for itself. */
static int equip(struct thread *t, const struct ptc_ipt *ipt, const struct ptc_engine *engine,
		 struct ptc_err *err)
{
	int r = ptc_ipt_init(&t->ipt, &ipt->params, err);

	if (!r && engine)
		r = ptc_engine_new_like(engine, &t->engine, err);
	t->worker.ipt = &t->ipt;
	t->worker.engine = t->engine;
	return r;
}

static int start(struct ptc_jobs *j, size_t n, struct ptc_err *err)
{
	size_t i;
	int r = 0;

	j->threads = calloc(n, sizeof(*j->threads));
	if (!j->threads)
		return ptc_fail_mem(err);
	for (i = 0; i < n && !r; i++) {
		struct thread *t = &j->threads[i];

		t->jobs = j;
		j->nipts++;
		r = equip(t, j->self.ipt, j->self.engine, err);
		if (!r && pthread_create(&t->id, NULL, work, t))
			break;
		j->nthreads += !r;
	}
	return r;
}

int ptc_jobs_new(unsigned int n, const struct ptc_ipt *ipt, struct ptc_engine *engine,
		 struct ptc_jobs **ret, struct ptc_err *err)
{
	struct ptc_jobs *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return ptc_fail_mem(err);
	(void)pthread_mutex_init(&j->lock, NULL);
	(void)pthread_cond_init(&j->added, NULL);
	(void)pthread_cond_init(&j->done, NULL);
	atomic_init(&j->quit, false);
	j->self.ipt = ipt;
	j->self.engine = engine;
	r = start(j, n - 1, err);
	if (r < 0) {
		ptc_jobs_free(j);
		return r;
	}
	*ret = j;
	return 0;
}

void ptc_jobs_stop(struct ptc_jobs *j)
{
	(void)pthread_mutex_lock(&j->lock);
	atomic_store(&j->quit, true);
	(void)pthread_cond_broadcast(&j->added);
	(void)pthread_mutex_unlock(&j->lock);
	while (j->nthreads)
		(void)pthread_join(j->threads[--j->nthreads].id, NULL);
}

void ptc_jobs_free(struct ptc_jobs *j)
{
	size_t i;

	if (!j)
		return;
	ptc_jobs_stop(j);
	while (j->nspare)
		ptc_replay_free(j->spare[--j->nspare]);
	while (j->nspare_made)
		ptc_made_list_release(&j->spare_made[--j->nspare_made]);
	ptc_slice_worker_release(&j->self);
	for (i = 0; i < j->nipts; i++) {
		ptc_slice_worker_release(&j->threads[i].worker);
		ptc_engine_free(j->threads[i].engine);
		ptc_ipt_release(&j->threads[i].ipt);
	}
	free(j->threads);
	(void)pthread_cond_destroy(&j->done);
	(void)pthread_cond_destroy(&j->added);
	(void)pthread_mutex_destroy(&j->lock);
	free(j);
}

void ptc_jobs_add(struct ptc_jobs *j, struct ptc_slice *s)
{
	(void)pthread_mutex_lock(&j->lock);
	s->state = PTC_SLICE_WAITS;
	s->next = NULL;
	if (j->last)
		j->last->next = s;
	else
		j->first = s;
	j->last = s;
	(void)pthread_cond_signal(&j->added);
	(void)pthread_mutex_unlock(&j->lock);
}

void ptc_jobs_await(struct ptc_jobs *j, struct ptc_slice *s)
{
	(void)pthread_mutex_lock(&j->lock);
	while (s->state != PTC_SLICE_DONE) {
		if (s->state == PTC_SLICE_WAITS)
			run(j, s, &j->self);
		else if (j->first)
			run(j, j->first, &j->self);
		else
			(void)pthread_cond_wait(&j->done, &j->lock);
	}
	(void)pthread_mutex_unlock(&j->lock);
}

void ptc_jobs_give_replay(struct ptc_jobs *j, struct ptc_replay *r)
{
	(void)pthread_mutex_lock(&j->lock);
	if (r && j->nspare < SPARE_MAX) {
		j->spare[j->nspare++] = r;
		r = NULL;
	}
	(void)pthread_mutex_unlock(&j->lock);
	ptc_replay_free(r);
}

void ptc_jobs_give_made(struct ptc_jobs *j, struct ptc_made_list *made)
{
	ptc_made_list_renew(made);
	(void)pthread_mutex_lock(&j->lock);
	if (made->used && j->nspare_made < SPARE_MAX) {
		j->spare_made[j->nspare_made++] = *made;
		*made = (struct ptc_made_list){ .n = 0 };
	}
	(void)pthread_mutex_unlock(&j->lock);
	ptc_made_list_release(made);
}
