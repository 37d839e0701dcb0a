/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/time_order.h"

#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/layout.h"
#include "auxtrace/record/sample.h"
#include "base/err.h"
#include "base/opts.h"
#include "base/vec.h"

/* A waiting record. pos ascends with the file, and orders records of equal time. */
struct waiting {
	uint64_t time;
	uint64_t pos; /* in the data section */
};

struct ptc_order {
	const struct ptc_file *f; /* borrowed */
	struct ptc_order_opts opts;
	struct ptc_order_stats stats;
	struct waiting *heap; /* owned; min-heap, oldest record first */
	size_t n, cap;
	/*
	 * Owned. Records that arrived in order, as nearly all records of one ring do: run_at to
	 * run_end. They need no sorting.
	 */
	struct waiting *run;
	size_t run_at, run_end, run_cap;
	uint64_t pos;	/* position of the next record to be read */
	uint64_t upto;	/* records not younger than this may be released now */
	uint64_t next;	/* value of upto at the next mark */
	uint64_t young; /* youngest time read */
	uint64_t given; /* youngest time released */
	bool flushing;	/* releasing records after a mark */
	bool ended;
	bool skips_aux;
};

int ptc_order_new(const struct ptc_file *f, const struct ptc_order_opts *opts,
		  struct ptc_order **ret, struct ptc_err *err)
{
	const struct ptc_order_opts defaults = PTC_ORDER_OPTS_INIT;
	struct ptc_order *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return ptc_fail_mem(err);
	rc = ptc_opts_take(&o->opts, sizeof(o->opts), opts ? opts : &defaults,
			   "PTC_ORDER_OPTS_INIT", err);
	if (rc) {
		free(o);
		return rc;
	}
	o->f = f;
	if (!o->opts.max || o->opts.max > PTC_ORDER_MAX)
		o->opts.max = PTC_ORDER_MAX;
	*ret = o;
	return 0;
}

void ptc_order_free(struct ptc_order *o)
{
	if (!o)
		return;
	free(o->heap);
	free(o->run);
	free(o);
}

void ptc_order_skip_aux(struct ptc_order *o)
{
	o->skips_aux = true;
}

void ptc_order_get_stats(const struct ptc_order *o, struct ptc_order_stats *ret)
{
	ptc_opts_give(ret, &o->stats, sizeof(o->stats));
}

static bool is_older(struct waiting a, struct waiting b)
{
	return a.time < b.time || (a.time == b.time && a.pos < b.pos);
}

static size_t nwaiting(const struct ptc_order *o)
{
	return o->n + (o->run_end - o->run_at);
}

/* Return whether the oldest waiting record is in the run, not in the heap. */
static bool is_in_run(const struct ptc_order *o)
{
	return o->run_at < o->run_end && (!o->n || is_older(o->run[o->run_at], o->heap[0]));
}

static int append_to_run(struct ptc_order *o, struct waiting w, struct ptc_err *err)
{
	void *items = o->run;

	if (o->run_at == o->run_end)
		o->run_at = o->run_end = 0;
	if (o->run_end == o->run_cap && o->run_at > o->run_end / 2) {
		o->run_end -= o->run_at;
		memcpy(o->run, o->run + o->run_at, o->run_end * sizeof(*o->run));
		o->run_at = 0;
	}
	if (!ptc_vec_reserve(&items, &o->run_cap, o->run_end + 1, sizeof(*o->run)))
		return ptc_fail_mem(err);
	o->run = items;
	o->run[o->run_end++] = w;
	return 0;
}

static int sift(struct ptc_order *o, struct waiting w, struct ptc_err *err)
{
	void *items = o->heap;
	size_t i, up;

	if (!ptc_vec_reserve(&items, &o->cap, o->n + 1, sizeof(*o->heap)))
		return ptc_fail_mem(err);
	o->heap = items;
	for (i = o->n++; i; i = up) {
		up = (i - 1) / 2;
		if (!is_older(w, o->heap[up]))
			break;
		o->heap[i] = o->heap[up];
	}
	o->heap[i] = w;
	return 0;
}

static int push_waiting_record(struct ptc_order *o, struct waiting w, struct ptc_err *err)
{
	const bool in_order = o->run_at == o->run_end || !is_older(w, o->run[o->run_end - 1]);
	const int rc = in_order ? append_to_run(o, w, err) : sift(o, w, err);

	if (!rc && nwaiting(o) > o->stats.waiting_max)
		o->stats.waiting_max = nwaiting(o);
	return rc;
}

static struct waiting pop_heap(struct ptc_order *o)
{
	const struct waiting first = o->heap[0], w = o->heap[--o->n];
	size_t i = 0, down;

	while ((down = 2 * i + 1) < o->n) {
		if (down + 1 < o->n && is_older(o->heap[down + 1], o->heap[down]))
			down++;
		if (!is_older(o->heap[down], w))
			break;
		o->heap[i] = o->heap[down];
		i = down;
	}
	if (o->n)
		o->heap[i] = w;
	return first;
}

static struct waiting pop(struct ptc_order *o)
{
	return is_in_run(o) ? o->run[o->run_at++] : pop_heap(o);
}

static uint64_t oldest(const struct ptc_order *o)
{
	return is_in_run(o) ? o->run[o->run_at].time : o->heap[0].time;
}

/* Returns the time of a record, or 0. Unreadable records are reported by other code. */
static uint64_t time_of(const struct ptc_file *f, const struct ptc_rec *rec)
{
	struct ptc_cur body = rec->body;
	const struct ptc_file_attr *a;
	struct ptc_sample_id id = { 0 };
	struct ptc_sample s;

	if (rec->type == PERF_RECORD_SAMPLE) {
		a = ptc_file_sample_attr(f, rec);
		if (a && ptc_sample_parse_front(&body, a->attr.sample_type, &s))
			id = s.id;
	} else {
		(void)ptc_sample_id_parse(&body, ptc_file_trailer_type(f, rec), &id);
	}
	return (id.has & PERF_SAMPLE_TIME) && id.time != UINT64_MAX ? id.time : 0;
}

/* Release the oldest waiting record, which is intact because it was read before. */
static int give(struct ptc_order *o, struct ptc_rec *ret, uint64_t *ret_time, struct ptc_err *err)
{
	struct waiting w = pop(o);
	int r = ptc_file_next(o->f, &w.pos, ret, err);

	if (r <= 0)
		return r;
	*ret_time = w.time;
	if (w.time < o->given)
		o->stats.unordered++;
	else
		o->given = w.time;
	o->stats.records++;
	return 1;
}

/* Handle a record that does not wait. */
static int pass(struct ptc_order *o, const struct ptc_rec *rec, uint64_t *ret_time)
{
	if (rec->type == PTC_REC_FINISHED_ROUND && !o->opts.no_rounds) {
		o->upto = o->next;
		o->next = o->young;
		o->flushing = true;
	}
	if (rec->type < PTC_REC_USER_START && o->given)
		o->stats.late++;
	*ret_time = 0;
	o->stats.records++;
	return 1;
}

static bool is_due(struct ptc_order *o)
{
	o->flushing = o->flushing && nwaiting(o) && oldest(o) <= o->upto;
	return nwaiting(o) && (o->ended || o->flushing || nwaiting(o) > o->opts.max);
}

int ptc_order_next(struct ptc_order *o, struct ptc_rec *ret, uint64_t *ret_time_ns,
		   struct ptc_err *err)
{
	struct waiting w;
	struct ptc_rec rec;
	int r;

	while (!is_due(o)) {
		if (o->ended)
			return 0;
		w.pos = o->pos;
		r = ptc_file_next(o->f, &o->pos, &rec, err);
		if (r < 0)
			return r;
		if (!r) {
			o->ended = true;
			continue;
		}
		if (o->skips_aux && rec.type == PERF_RECORD_AUX)
			continue;
		w.time = rec.type < PTC_REC_USER_START ? time_of(o->f, &rec) : 0;
		if (!w.time) {
			*ret = rec;
			return pass(o, &rec, ret_time_ns);
		}
		if (w.time > o->young)
			o->young = w.time;
		r = push_waiting_record(o, w, err);
		if (r < 0)
			return r;
	}
	return give(o, ret, ret_time_ns, err);
}
