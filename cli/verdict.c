/* SPDX-License-Identifier: MIT */
#include "verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NS_PER_S = 1000000000, NS_PER_US = 1000 };

static void begin_anew(struct ptc_verdict_thread *t)
{
	t->branches = 0;
	t->first_ns = t->last_ns = PTC_NO_TIME;
}

static struct ptc_verdict_thread *add(struct ptc_verdict *v, const struct ptc_item *it)
{
	const size_t cap = v->cap ? 2 * v->cap : 16;

	if (v->n == v->cap) {
		struct ptc_verdict_thread *more =
			reallocarray(v->threads, cap, sizeof(*v->threads));

		if (!more) {
			v->no_memory = true;
			return NULL;
		}
		v->threads = more;
		v->cap = cap;
	}
	v->threads[v->n] = (struct ptc_verdict_thread){ .pid = it->pid, .tid = it->tid };
	begin_anew(&v->threads[v->n]);
	return &v->threads[v->n++];
}

/* NULL: out of memory. */
static struct ptc_verdict_thread *thread_of(struct ptc_verdict *v, const struct ptc_item *it)
{
	size_t i;

	if (v->newest < v->n && v->threads[v->newest].tid == it->tid)
		return &v->threads[v->newest];
	for (i = 0; i < v->n && v->threads[i].tid != it->tid; i++)
		;
	v->newest = i;
	return i < v->n ? &v->threads[i] : add(v, it);
}

static void take_branch(struct ptc_verdict *v, const struct ptc_item *it)
{
	struct ptc_verdict_thread *t = thread_of(v, it);

	if (!t)
		return;
	t->pid = it->pid;
	t->queue = it->queue;
	t->branches++;
	if (it->time == PTC_NO_TIME)
		return;
	if (t->first_ns == PTC_NO_TIME)
		t->first_ns = it->time;
	t->last_ns = it->time;
}

static void take_gap(struct ptc_verdict_thread *t, const struct ptc_item *it)
{
	begin_anew(t);
	if (it->cause == PTC_GAP_SNAPSHOT)
		return;
	t->gaps++;
	t->gap_bytes += it->to;
	t->cause = (enum ptc_gap_cause)it->cause;
}

/* Of nobody: of all whose trace is in that queue. */
static void take_gap_of_queue(struct ptc_verdict *v, const struct ptc_item *it)
{
	bool any = it->cause == PTC_GAP_SNAPSHOT;
	size_t i;

	for (i = 0; i < v->n; i++) {
		if (v->threads[i].queue != it->queue)
			continue;
		take_gap(&v->threads[i], it);
		any = true;
	}
	v->unplaced += !any;
}

int ptc_verdict_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_verdict *v = ctx;
	size_t i;

	for (i = 0; i < n && !v->no_memory; i++) {
		const struct ptc_item *it = &items[i];
		struct ptc_verdict_thread *t;

		if (it->type == PTC_ITEM_BRANCH) {
			take_branch(v, it);
		} else if (it->type == PTC_ITEM_GAP && it->tid < 0) {
			take_gap_of_queue(v, it);
		} else if (it->type == PTC_ITEM_GAP) {
			t = thread_of(v, it);
			if (t)
				take_gap(t, it);
		}
	}
	return v->no_memory;
}

int ptc_verdict_make(struct ptc_verdict *v, const char *path, struct ptc_err *err)
{
	const struct ptc_sink sink = { ptc_verdict_items, v };
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_decode *d = NULL;
	int rc = ptc_decode_open(path, &opts, &d, err);

	if (!rc)
		rc = ptc_decode_run(d, &sink, err);
	ptc_decode_free(d);
	if (v->no_memory) {
		err->code = PTC_E_NO_MEMORY;
		(void)snprintf(err->msg, sizeof(err->msg), "out of memory");
	}
	return rc;
}

void ptc_verdict_release(struct ptc_verdict *v)
{
	free(v->threads);
	*v = (struct ptc_verdict){ .n = 0 };
}

bool ptc_verdict_complete(const struct ptc_verdict *v)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (v->threads[i].gaps)
			return false;
	return v->n && !v->unplaced;
}

static void show_end(FILE *out, const struct ptc_verdict_thread *t)
{
	if (!t->branches) {
		fprintf(out, "nothing behind that");
		return;
	}
	fprintf(out, "the last ");
	if (t->first_ns != PTC_NO_TIME)
		fprintf(out, "%.3f us, ", (double)(t->last_ns - t->first_ns) / NS_PER_US);
	fprintf(out, "%" PRIu64 " branch%s, complete", t->branches, t->branches == 1 ? "" : "es");
	if (t->last_ns != PTC_NO_TIME)
		fprintf(out, " up to %" PRIu64 ".%09" PRIu64, t->last_ns / NS_PER_S,
			t->last_ns % NS_PER_S);
}

void ptc_verdict_show(FILE *out, const char *prefix, const struct ptc_verdict *v, size_t max)
{
	size_t i;

	for (i = 0; i < v->n && i < max; i++) {
		const struct ptc_verdict_thread *t = &v->threads[i];

		fprintf(out, "%s tid %d: ", prefix, (int)t->tid);
		if (t->gaps)
			fprintf(out,
				"NOT all: %" PRIu64 " gap%s, %" PRIu64 " bytes, the last: %s; ",
				t->gaps, t->gaps == 1 ? "" : "s", t->gap_bytes,
				ptc_gap_name(t->cause));
		show_end(out, t);
		fprintf(out, "\n");
	}
	if (v->n > max)
		fprintf(out, "%s and %zu threads more\n", prefix, v->n - max);
	if (v->unplaced)
		fprintf(out, "%s NOT all: %" PRIu64 " gap%s of threads that nobody knows\n", prefix,
			v->unplaced, v->unplaced == 1 ? "" : "s");
	if (!v->n && !v->unplaced)
		fprintf(out, "%s nothing: no thread has left a branch\n", prefix);
}
