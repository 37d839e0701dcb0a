/* SPDX-License-Identifier: MIT */
#include "decode/jobs.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/err.h"

/* Replays that are kept for another slice. */
enum { SPARE_MAX = 64 };

struct thread {
	struct ptc_jobs *jobs;
	pthread_t id;
	struct ptc_ipt ipt; /* owned: threads that share a cache of sections wait for each other */
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

/* With the lock, which is not held meanwhile. @s waits. */
static void run(struct ptc_jobs *j, struct ptc_slice *s, struct ptc_slice_worker *w)
{
	struct ptc_replay *replay = j->nspare ? j->spare[--j->nspare] : NULL;

	unlink_slice(j, s);
	s->state = PTC_SLICE_RUNS;
	(void)pthread_mutex_unlock(&j->lock);
	ptc_slice_run(s, w, replay, &j->quit);
	(void)pthread_mutex_lock(&j->lock);
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

static int start(struct ptc_jobs *j, size_t n, const struct ptc_ipt *ipt, struct ptc_err *err)
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
		r = ptc_ipt_init(&t->ipt, &ipt->params, err);
		t->worker.ipt = &t->ipt;
		if (!r && pthread_create(&t->id, NULL, work, t))
			break;
		j->nthreads += !r;
	}
	return r;
}

int ptc_jobs_new(unsigned int n, const struct ptc_ipt *ipt, struct ptc_jobs **ret,
		 struct ptc_err *err)
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
	r = start(j, n - 1, ipt, err);
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
	ptc_slice_worker_release(&j->self);
	for (i = 0; i < j->nipts; i++) {
		ptc_slice_worker_release(&j->threads[i].worker);
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
