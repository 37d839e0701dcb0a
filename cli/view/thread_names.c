/* SPDX-License-Identifier: MIT */
#include "cli/view/thread_names.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/sorted.h"
#include "ptcap/sideband.h"

static int add_name(struct ptc_thread_names *t, const struct ptc_sb *sb, struct ptc_err *err)
{
	const uint32_t name = ptc_names_get(&t->texts, sb->u.comm.comm);

	if (name == UINT32_MAX || !ptc_grow(&t->v, &t->cap, t->n + 1, sizeof(*t->v)))
		return ptc_fail_mem(err);
	t->v[t->n] = (struct ptc_thread_name){
		.tid = sb->u.comm.tid,
		.name = name,
		.time_ns = sb->id.has & PERF_SAMPLE_TIME ? sb->id.time : 0,
		.order = t->n,
	};
	t->n++;
	return 0;
}

static int compare_names(const void *pa, const void *pb)
{
	const struct ptc_thread_name *a = pa, *b = pb;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

int ptc_thread_names_read(struct ptc_thread_names *ret, const struct ptc_file *f,
			  struct ptc_err *err)
{
	struct ptc_err damage;
	struct ptc_rec rec;
	struct ptc_sb sb;
	uint64_t pos = 0;
	int rc = 0;

	*ret = (struct ptc_thread_names){ .n = 0 };
	/* The decode reports a damaged record. */
	while (!rc && ptc_file_next(f, &pos, &rec, &damage) > 0)
		if (rec.type == PERF_RECORD_COMM &&
		    ptc_sb_parse(&rec, ptc_file_trailer_type(f, &rec), &sb, &damage) > 0)
			rc = add_name(ret, &sb, err);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare_names);
	return rc;
}

void ptc_thread_names_release(struct ptc_thread_names *t)
{
	free(t->v);
	ptc_names_release(&t->texts);
}

const char *ptc_thread_names_at(const struct ptc_thread_names *t, int32_t tid, uint64_t time_ns)
{
	const size_t first = PTC_PARTITION_POINT(i, 0, t->n, t->v[i].tid < tid);
	const size_t end = PTC_PARTITION_POINT(i, first, t->n, t->v[i].tid == tid);
	const size_t after = PTC_PARTITION_POINT(i, first, end, t->v[i].time_ns <= time_ns);

	if (first == end)
		return NULL;
	return ptc_names_of(&t->texts, t->v[after > first ? after - 1 : first].name);
}
