/* SPDX-License-Identifier: MIT */
#include "cli/common/completeness.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/plural.h"
#include "base/terminal_escape.h"
#include "cli/common/ledger.h"
#include "ptcap/file.h"
#include "ptcap/lookup.h"

enum { NS_PER_S = 1000000000, NS_PER_US = 1000 };

/* Existence of a thread: alive or gone at that time. */
struct ptc_verdict_told {
	int32_t tid;
	bool gone;
	uint64_t time;
};

static void begin_anew(struct ptc_verdict_thread *t)
{
	t->branches = t->insns = 0;
	t->first_ns = t->last_ns = PTC_NO_TIME;
}

static void set_moved(const struct ptc_verdict *v, struct ptc_verdict_thread *t)
{
	const struct ptc_moved *m = ptc_moves_find(&v->moves, t->tid);

	if (!m)
		return;
	t->moved_cpu = m->cpu;
	t->moved_ns = m->ns;
}

static struct ptc_verdict_thread *add_verdict_thread(struct ptc_verdict *v, int32_t pid,
						     int32_t tid)
{
	const size_t cap = v->cap ? 2 * v->cap : 16;
	struct ptc_verdict_thread *t;

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
	t = &v->threads[v->n++];
	*t = (struct ptc_verdict_thread){ .pid = pid, .tid = tid, .moved_cpu = -1 };
	begin_anew(t);
	set_moved(v, t);
	return t;
}

static struct ptc_verdict_thread *find_verdict_thread(struct ptc_verdict *v, int32_t tid)
{
	size_t i;

	if (v->newest < v->n && v->threads[v->newest].tid == tid)
		return &v->threads[v->newest];
	for (i = 0; i < v->n && v->threads[i].tid != tid; i++)
		;
	v->newest = i;
	return i < v->n ? &v->threads[i] : NULL;
}

/* Returns NULL if out of memory. */
static struct ptc_verdict_thread *thread_of(struct ptc_verdict *v, const struct ptc_item *it)
{
	struct ptc_verdict_thread *t = find_verdict_thread(v, it->tid);

	return t ? t : add_verdict_thread(v, it->pid, it->tid);
}

static void take_branch(struct ptc_verdict *v, const struct ptc_item *it)
{
	struct ptc_verdict_thread *t = thread_of(v, it);

	if (!t)
		return;
	t->pid = it->pid;
	t->queue = it->queue;
	t->last_to = it->to;
	if (it->time < t->moved_ns) /* some trace between this branch and the next is overwritten */
		return;
	t->insns += t->branches++ ? it->insns : 0;
	if (it->time == PTC_NO_TIME)
		return;
	if (t->first_ns == PTC_NO_TIME)
		t->first_ns = it->time;
	t->last_ns = it->time;
}

static void take_gap(struct ptc_verdict_thread *t, const struct ptc_item *it)
{
	begin_anew(t);
	if (it->cause == PTC_GAP_SNAPSHOT) {
		t->parted |= it->tid >= 0;
		return;
	}
	t->gaps++;
	t->gap_bytes += it->to;
	t->cause = (enum ptc_gap_cause)it->cause;
}

/* Count a gap without a thread for all threads whose trace is in that queue. */
static void take_gap_of_queue(struct ptc_verdict *v, const struct ptc_item *it)
{
	bool any = it->cause == PTC_GAP_SNAPSHOT;
	size_t i;

	if (any && it->cpu >= 0) /* no time: the ring contains no PSB at all */
		v->no_memory |= !ptc_moves_begin(&v->moves, it->cpu, it->time);
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

/* --- sideband records --- */

static bool append_task_record(struct ptc_verdict *v, int32_t tid, uint64_t time, bool gone)
{
	const size_t cap = v->told_cap ? 2 * v->told_cap : 64;

	if (v->ntold == v->told_cap) {
		struct ptc_verdict_told *more = reallocarray(v->told, cap, sizeof(*more));

		if (!more)
			return false;
		v->told = more;
		v->told_cap = cap;
	}
	v->told[v->ntold++] = (struct ptc_verdict_told){ tid, gone, time };
	return true;
}

int ptc_verdict_sideband(struct ptc_verdict *v, const struct ptc_sb *sb)
{
	bool good = ptc_moves_take(&v->moves, sb);

	if (sb->type == PERF_RECORD_COMM && sb->u.comm.tid > 0)
		good = append_task_record(v, sb->u.comm.tid, sb->id.time, false);
	else if ((sb->type == PERF_RECORD_FORK || sb->type == PERF_RECORD_EXIT) &&
		 sb->u.task.tid > 0)
		good = append_task_record(v, sb->u.task.tid, sb->id.time,
					  sb->type == PERF_RECORD_EXIT);
	v->no_memory |= !good;
	return v->no_memory;
}

static int take_ledger(struct ptc_verdict *v, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_ledger_ring r;
	struct ptc_ledger l;
	const int rc = ptc_ledger_parse(rec, &l, err);

	while (rc > 0 && ptc_ledger_next_ring(&l, &r))
		v->lost_records += r.lost_records;
	return rc < 0 ? rc : 0;
}

static int take_record(struct ptc_verdict *v, const struct ptc_file *f, const struct ptc_rec *rec,
		       struct ptc_err *err)
{
	struct ptc_sb sb;
	int rc;

	if (rec->type == PTC_REC_HEADER_EVENT_TYPE)
		return take_ledger(v, rec, err);
	rc = ptc_sb_parse(rec, ptc_file_trailer_type(f, rec), &sb, err);
	if (rc > 0)
		(void)ptc_verdict_sideband(v, &sb);
	return rc < 0 ? rc : 0;
}

static int read_sideband(struct ptc_verdict *v, const char *path, struct ptc_err *err)
{
	struct ptc_file *f = NULL;
	struct ptc_rec rec;
	uint64_t pos = 0;
	int rc = ptc_file_open(path, &f, err);

	while (!rc && !v->no_memory && (rc = ptc_file_next(f, &pos, &rec, err)) > 0)
		rc = take_record(v, f, &rec, err);
	if (rc < 0 && f)
		(void)ptc_file_err_name(f, err);
	ptc_file_free(f);
	return rc;
}

/* --- overall verdict --- */

static int by_tid_and_time(const void *a, const void *b)
{
	const struct ptc_verdict_told *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static void count_silent(struct ptc_verdict *v)
{
	size_t i;

	if (v->ntold)
		qsort(v->told, v->ntold, sizeof(*v->told), by_tid_and_time);
	v->silent = 0;
	for (i = 0; i < v->ntold; i++)
		v->silent += (i + 1 == v->ntold || v->told[i + 1].tid != v->told[i].tid) &&
			     !v->told[i].gone && !find_verdict_thread(v, v->told[i].tid);
}

int ptc_verdict_settle(struct ptc_verdict *v)
{
	const bool again = v->moves.moved;
	bool counted = false;
	size_t i;

	if (!ptc_moves_settle(&v->moves)) {
		v->no_memory = true;
		return 0;
	}
	for (i = 0; i < v->n && !again; i++) {
		const struct ptc_moved *m = ptc_moves_find(&v->moves, v->threads[i].tid);

		counted |= m && v->threads[i].first_ns < m->ns;
	}
	if (counted) {
		v->n = v->unplaced = 0;
		return 1;
	}
	/* A thread's own gap already shows where its trace restarts, but not why. */
	for (i = 0; i < v->n; i++)
		if (v->threads[i].parted || !v->threads[i].branches)
			set_moved(v, &v->threads[i]);
	count_silent(v);
	return 0;
}

/* Find threads that end in a loop that makes no packet. */
static void find_circles(struct ptc_verdict *v, struct ptc_decode *d)
{
	size_t i;

	for (i = 0; i < v->n; i++) {
		struct ptc_verdict_thread *t = &v->threads[i];
		const struct ptc_item where = { .pid = t->pid, .tid = t->tid, .time = PTC_NO_TIME };
		const char *name;
		uint64_t off = 0;

		t->circle = t->last_to ? ptc_silent_loop_behind(d, t->pid, t->last_to) :
					 (struct ptc_silent_loop){ .ip = 0 };
		name = t->circle.insns ? ptc_decode_symbol(d, &where, t->circle.ip, &off) : NULL;
		if (name)
			(void)snprintf(t->circle_name, sizeof(t->circle_name), "%.40s+0x%" PRIx64,
				       name, off);
	}
}

static int replay(struct ptc_verdict *v, const char *path, struct ptc_err *err)
{
	const struct ptc_sink sink = { ptc_verdict_items, v };
	struct ptc_decode_opts opts = PTC_DECODE_OPTS_INIT;
	struct ptc_decode *d = NULL;
	int rc;

	opts.icount = v->of_software;
	rc = ptc_decode_open(path, &opts, &d, err);
	if (!rc && !v->of_software && ptc_decode_is_of_software(d)) {
		v->of_software = opts.icount = true;
		ptc_decode_free(d);
		d = NULL;
		rc = ptc_decode_open(path, &opts, &d, err);
	}
	if (!rc)
		rc = ptc_decode_run(d, &sink, err);
	if (!rc)
		find_circles(v, d);
	ptc_decode_free(d);
	return rc;
}

int ptc_verdict_make(struct ptc_verdict *v, const char *path, struct ptc_err *err)
{
	int rc = read_sideband(v, path, err);

	do
		rc = rc ? rc : replay(v, path, err);
	while (!rc && ptc_verdict_settle(v));
	if (v->no_memory)
		rc = ptc_fail_mem(err);
	return rc;
}

void ptc_verdict_release(struct ptc_verdict *v)
{
	ptc_moves_release(&v->moves);
	free(v->told);
	free(v->threads);
	*v = (struct ptc_verdict){ .n = 0 };
}

bool ptc_verdict_thread_complete(const struct ptc_verdict_thread *t)
{
	return !t->gaps && t->branches;
}

bool ptc_verdict_complete(const struct ptc_verdict *v)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		if (!ptc_verdict_thread_complete(&v->threads[i]))
			return false;
	return v->n && !v->unplaced && !v->lost_records;
}

static void show_end(FILE *out, const struct ptc_verdict_thread *t, bool of_software)
{
	if (!t->branches) {
		fprintf(out, t->gaps ? "no branch after the last gap" : "no branch");
		return;
	}
	fprintf(out, "the last ");
	if (of_software)
		fprintf(out, "%" PRIu64 " instruction%s, ", t->insns, ptc_plural(t->insns));
	else if (t->first_ns != PTC_NO_TIME)
		fprintf(out, "%.3f us, ", (double)(t->last_ns - t->first_ns) / (double)NS_PER_US);
	fprintf(out, "%" PRIu64 " branch%s without a gap", t->branches, ptc_plural_es(t->branches));
	if (t->last_ns != PTC_NO_TIME)
		fprintf(out, " up to %" PRIu64 ".%09" PRIu64, t->last_ns / NS_PER_S,
			t->last_ns % NS_PER_S);
}

static void show_thread(FILE *out, const struct ptc_verdict_thread *t, bool of_software)
{
	fprintf(out, "tid %d: ", (int)t->tid);
	if (!t->gaps && !ptc_verdict_thread_complete(t))
		fprintf(out, "NOT complete: ");
	if (t->gaps)
		fprintf(out, "NOT complete: %" PRIu64 " gap%s, %" PRIu64 " bytes, last cause: %s; ",
			t->gaps, ptc_plural(t->gaps), t->gap_bytes, ptc_gap_name(t->cause));
	show_end(out, t, of_software);
	if (t->moved_cpu >= 0 && t->moved_ns == PTC_NO_TIME)
		fprintf(out, "; now on CPU %d, whose ring buffer has nothing to decode yet",
			(int)t->moved_cpu);
	else if (t->moved_cpu >= 0)
		fprintf(out,
			"; its trace on CPU %d up to %" PRIu64 ".%09" PRIu64 " was overwritten",
			(int)t->moved_cpu, t->moved_ns / NS_PER_S, t->moved_ns % NS_PER_S);
	if (t->circle.insns && t->circle_name[0]) {
		fprintf(out, "; then a loop without packets at ");
		ptc_plain_put(out, t->circle_name);
	} else if (t->circle.insns)
		fprintf(out, "; then a loop without packets at 0x%" PRIx64, t->circle.ip);
	fprintf(out, "\n");
}

void ptc_verdict_show(FILE *out, const char *prefix, const struct ptc_verdict *v, size_t max)
{
	size_t i;

	for (i = 0; i < v->n && i < max; i++) {
		fprintf(out, "%s ", prefix);
		show_thread(out, &v->threads[i], v->of_software);
	}
	if (v->n > max)
		fprintf(out, "%s %zu more thread%s\n", prefix, v->n - max, ptc_plural(v->n - max));
	if (v->unplaced)
		fprintf(out, "%s NOT complete: %" PRIu64 " gap%s in unknown threads\n", prefix,
			v->unplaced, ptc_plural(v->unplaced));
	if (v->lost_records)
		fprintf(out,
			"%s NOT complete: %" PRIu64
			" sideband record%s lost since the recording began; mappings or threads "
			"may be missing\n",
			prefix, v->lost_records, v->lost_records == 1 ? " was" : "s were");
	if (v->silent && v->n)
		fprintf(out,
			"%s %" PRIu64 " more thread%s without a branch: not running, or the trace "
			"was overwritten\n",
			prefix, v->silent, ptc_plural(v->silent));
	if (!v->n && !v->unplaced)
		fprintf(out, "%s no branch of any thread\n", prefix);
}
