/* SPDX-License-Identifier: MIT */
#include "cli/calls/thread_names.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/idmap.h"
#include "decode/session/decode_input.h"
#include "decode/session/item_lookup.h"
#include "ptcap/file.h"
#include "ptcap/sideband.h"

/* The threads of the stream by tid, and the current name of each tid. */
struct searching {
	struct ptc_thread_names *names;
	struct ptc_call_stream *s;
	struct ptc_idmap of_tid; /* to the first thread with this tid */
	uint32_t *next;		 /* owned; the next thread with the same tid; PTC_NO_NUMBER */
	struct ptc_idmap known;	 /* to current */
	uint32_t *current;	 /* owned */
	size_t ncurrent, current_cap;
};

/* Add thread @number to the threads with its tid. Returns false if out of memory. */
static bool add_thread(struct searching *x, uint32_t number)
{
	const int32_t tid = x->s->threads[number].tid;
	const size_t at = ptc_idmap_find(&x->of_tid, tid);

	x->next[number] = PTC_NO_NUMBER;
	if (at == SIZE_MAX)
		return ptc_idmap_add(&x->of_tid, tid, number);
	x->next[number] = x->next[at];
	x->next[at] = number;
	return true;
}

static bool prepare_search(struct searching *x)
{
	const size_t n = x->s->nthreads;
	uint32_t i;
	bool ok;

	x->names->v = calloc(n + 1, sizeof(*x->names->v));
	x->names->n = n;
	x->next = calloc(n + 1, sizeof(*x->next));
	ok = x->names->v && x->next;
	for (i = 0; i < n && ok; i++)
		ok = add_thread(x, i);
	return ok;
}

static void release_search(struct searching *x)
{
	ptc_idmap_release(&x->of_tid);
	ptc_idmap_release(&x->known);
	free(x->next);
	free(x->current);
}

/* Set the current name of @tid. Returns false if out of memory. */
static bool set_current(struct searching *x, int32_t tid, uint32_t name)
{
	const size_t at = ptc_idmap_find(&x->known, tid);

	if (at < x->ncurrent) {
		x->current[at] = name;
		return true;
	}
	if (!ptc_grow(&x->current, &x->current_cap, x->ncurrent + 1, sizeof(*x->current)) ||
	    !ptc_idmap_add(&x->known, tid, x->ncurrent))
		return false;
	x->current[x->ncurrent++] = name;
	return true;
}

/* A name may come after the first item of its thread, but not after the last one. */
static bool is_in_life(const struct ptc_call_thread *t, const struct ptc_sb *sb)
{
	return !(sb->id.has & PERF_SAMPLE_TIME) || t->last_time == PTC_NO_TIME ||
	       sb->id.time <= t->last_time;
}

/* Give @tid the name @name, from the time of @sb on. Returns false if out of memory. */
static bool name_thread(struct searching *x, const struct ptc_sb *sb, int32_t tid, uint32_t name)
{
	const size_t first = ptc_idmap_find(&x->of_tid, tid);
	uint32_t i = first == SIZE_MAX ? PTC_NO_NUMBER : (uint32_t)first;

	for (; i != PTC_NO_NUMBER; i = x->next[i])
		if (is_in_life(&x->s->threads[i], sb))
			x->names->v[i] = name;
	return set_current(x, tid, name);
}

/* Take a name, or the birth of a thread, which has the name of its parent. */
static bool take_sideband(struct searching *x, const struct ptc_sb *sb)
{
	uint32_t name;
	size_t at;

	if (sb->type == PERF_RECORD_COMM) {
		name = ptc_names_get(&x->s->names, sb->u.comm.comm);
		return name != UINT32_MAX && name_thread(x, sb, sb->u.comm.tid, name);
	}
	at = ptc_idmap_find(&x->known, sb->u.task.ptid);
	return at >= x->ncurrent || name_thread(x, sb, sb->u.task.tid, x->current[at]);
}

bool ptc_thread_names_find(struct ptc_thread_names *n, struct ptc_call_stream *s)
{
	const struct ptc_file *file = ptc_decode_input(s->opts.d)->file;
	struct searching x = { .names = n, .s = s };
	struct ptc_err ignored;
	struct ptc_rec rec;
	struct ptc_sb sb;
	uint64_t pos = 0;
	bool ok = prepare_search(&x);

	while (ok && file && ptc_file_next(file, &pos, &rec, &ignored) > 0)
		if ((rec.type == PERF_RECORD_COMM || rec.type == PERF_RECORD_FORK) &&
		    ptc_sb_parse(&rec, ptc_file_trailer_type(file, &rec), &sb, &ignored) > 0)
			ok = take_sideband(&x, &sb);
	release_search(&x);
	return ok;
}

void ptc_thread_names_release(struct ptc_thread_names *n)
{
	free(n->v);
	*n = (struct ptc_thread_names){ .n = 0 };
}

const char *ptc_thread_name(const struct ptc_thread_names *n, const struct ptc_call_stream *s,
			    uint32_t number)
{
	const char *name = ptc_names_of(&s->names, n->v[number]);

	return name && *name ? name : "?";
}
