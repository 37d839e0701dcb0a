/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/aux_join.h"

#include <stdlib.h>
#include <string.h>

#include "auxtrace/reader/aux_overlap.h"
#include "auxtrace/record/layout.h"
#include "base/err.h"
#include "base/sorted.h"
#include "base/vec.h"

int ptc_aux_join_add(struct ptc_aux_join *j, const struct ptc_sb *sb, struct ptc_err *err)
{
	const struct ptc_sample_id *id = &sb->id;
	void *items = j->said;

	if (j->nsaid == PTC_LIMIT_AUX_CHUNKS)
		return ptc_fail_at(err, PTC_E_LIMIT, sb->off, "more than %u AUX records",
				   PTC_LIMIT_AUX_CHUNKS);
	if (!ptc_vec_reserve(&items, &j->said_cap, j->nsaid + 1, sizeof(*j->said)))
		return ptc_fail_mem(err);
	j->said = items;
	j->said[j->nsaid] = (struct ptc_aux_said){
		.off = sb->u.aux.offset,
		.size = sb->u.aux.size,
		.flags = sb->u.aux.flags,
		.time_ns = id->has & PERF_SAMPLE_TIME ? id->time : 0,
		.id = id->has & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? id->id : 0,
		.seq = j->nsaid,
		.tid = id->has & PERF_SAMPLE_TID ? id->tid : -1,
		.cpu = id->has & PERF_SAMPLE_CPU ? (int32_t)id->cpu : -1,
		.queue = PTC_AUX_NO_QUEUE,
	};
	j->nsaid++;
	return 0;
}

static int by_id(const void *pa, const void *pb)
{
	const struct ptc_aux_id *a = pa, *b = pb;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->idx < b->idx ? -1 : a->idx > b->idx;
}

int ptc_aux_join_ids(struct ptc_aux_join *j, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_cur c = rec->body;
	uint64_t n, id, idx, i;
	void *items = j->ids;

	if (j->ids_sorted)
		return 0;
	/* Newer perf appends as many entries again, for guests. */
	if (!ptc_cur_le64(&c, &n) || n > ptc_cur_left(&c) / 32)
		return ptc_fail_at(err, PTC_E_FORMAT, rec->off,
				   "ID_INDEX record is too short for its entries");
	if (n > PTC_LIMIT_IDS || j->nids > PTC_LIMIT_IDS - n)
		return ptc_fail_at(err, PTC_E_LIMIT, rec->off, "more than %u ids in ID_INDEX",
				   PTC_LIMIT_IDS);
	if (!ptc_vec_reserve(&items, &j->ids_cap, j->nids + n, sizeof(*j->ids)))
		return ptc_fail_mem(err);
	j->ids = items;
	for (i = 0; i < n && ptc_cur_le64(&c, &id) && ptc_cur_le64(&c, &idx); i++) {
		(void)ptc_cur_skip(&c, 16); /* cpu and tid */
		if (id && idx <= UINT32_MAX)
			j->ids[j->nids++] = (struct ptc_aux_id){ id, (uint32_t)idx };
	}
	return 0;
}

bool ptc_aux_join_idx(struct ptc_aux_join *j, uint64_t id, uint32_t *ret_idx)
{
	size_t at;

	if (j->nids && !j->ids_sorted)
		qsort(j->ids, j->nids, sizeof(*j->ids), by_id);
	j->ids_sorted = true;
	at = PTC_PARTITION_POINT(i, 0, j->nids, j->ids[i].id < id);
	if (!id || at == j->nids || j->ids[at].id != id)
		return false;
	*ret_idx = j->ids[at].idx;
	return true;
}

/* The cpu or tid of a queue, and the queue's position in the index. */
struct key {
	int32_t key;
	size_t queue;
};

/* Lookup tables from cpu and from tid to queue; each array is sorted. */
struct keys {
	struct key *cpus, *tids; /* owned */
	size_t ncpus, ntids;
};

static int by_key(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->queue < b->queue ? -1 : a->queue > b->queue;
}

static int by_place(const void *pa, const void *pb)
{
	const struct ptc_aux_said *a = pa, *b = pb;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* Fast path: the AUX records of a single queue arrive in the order of the trace. */
static bool is_sorted_by_place(const struct ptc_aux_join *j)
{
	size_t i;

	for (i = 1; i < j->nsaid; i++)
		if (by_place(&j->said[i - 1], &j->said[i]) > 0)
			return false;
	return true;
}

static bool keys_init(struct keys *k, const struct ptc_index *ix)
{
	size_t i;

	k->ncpus = k->ntids = 0;
	k->cpus = calloc(ix->nqueues ? ix->nqueues : 1, sizeof(*k->cpus));
	k->tids = calloc(ix->nqueues ? ix->nqueues : 1, sizeof(*k->tids));
	if (!k->cpus || !k->tids)
		return false;
	/* The tid of a CPU's chunk is only the thread that ran when it was copied. */
	for (i = 0; i < ix->nqueues; i++)
		if (ix->queues[i].cpu != -1)
			k->cpus[k->ncpus++] = (struct key){ ix->queues[i].cpu, i };
		else if (ix->queues[i].tid != -1)
			k->tids[k->ntids++] = (struct key){ ix->queues[i].tid, i };
	qsort(k->cpus, k->ncpus, sizeof(*k->cpus), by_key);
	qsort(k->tids, k->ntids, sizeof(*k->tids), by_key);
	return true;
}

static size_t find_key(const struct key *keys, size_t n, int32_t want)
{
	const size_t at = PTC_PARTITION_POINT(i, 0, n, keys[i].key < want);

	/* Two queues of one CPU: the CPU number is ambiguous. */
	if (at == n || keys[at].key != want || (at + 1 < n && keys[at + 1].key == want))
		return PTC_AUX_NO_QUEUE;
	return keys[at].queue;
}

/* Return whether there is only one queue, and @a does not contradict it. */
static bool is_only_one(const struct ptc_index *ix, const struct ptc_aux_said *a)
{
	const struct ptc_queue *q;

	if (ix->nqueues != 1)
		return false;
	q = &ix->queues[0];
	return q->cpu != -1 ? a->cpu == -1 : q->tid == -1 || a->tid == -1;
}

static size_t queue_of(struct ptc_aux_join *j, const struct ptc_index *ix, const struct keys *k,
		       const struct ptc_aux_said *a)
{
	size_t q = PTC_AUX_NO_QUEUE;
	uint32_t idx;

	if (a->cpu != -1)
		q = find_key(k->cpus, k->ncpus, a->cpu);
	if (q == PTC_AUX_NO_QUEUE && a->tid != -1)
		q = find_key(k->tids, k->ntids, a->tid);
	if (q == PTC_AUX_NO_QUEUE && ptc_aux_join_idx(j, a->id, &idx))
		q = ptc_index_find(ix, idx);
	return q == PTC_AUX_NO_QUEUE && is_only_one(ix, a) ? 0 : q;
}

int ptc_aux_join_sort(struct ptc_aux_join *j, const struct ptc_index *ix, struct ptc_err *err)
{
	struct keys k = { NULL, NULL, 0, 0 };
	int r = 0;
	size_t i;

	if (!keys_init(&k, ix)) {
		r = ptc_fail_mem(err);
		goto out;
	}
	j->unplaced = 0;
	for (i = 0; i < j->nsaid; i++) {
		j->said[i].queue = queue_of(j, ix, &k, &j->said[i]);
		j->unplaced += j->said[i].queue == PTC_AUX_NO_QUEUE;
	}
	if (!is_sorted_by_place(j))
		qsort(j->said, j->nsaid, sizeof(*j->said), by_place);
out:
	free(k.cpus);
	free(k.tids);
	return r;
}

static struct ptc_aux_span *new_span(struct ptc_aux_spans *s)
{
	void *items = s->spans;

	if (!ptc_vec_reserve(&items, &s->cap, s->n + 1, sizeof(*s->spans)))
		return NULL;
	s->spans = items;
	s->spans[s->n] = (struct ptc_aux_span){ .until_ns = UINT64_MAX };
	return &s->spans[s->n++];
}

/* Cursor over the records of one queue, by offset, and over its trace. */
struct walk {
	const struct ptc_aux_said *said;
	size_t n, next;
	uint64_t pos;	   /* position in the stream */
	uint64_t lost;	   /* bytes missing before pos, not yet in a span */
	uint64_t after_ns; /* time of the last record passed */
	struct ptc_aux_spans *out;
};

static struct walk begin_walk(const struct ptc_aux_join *j, size_t queue, struct ptc_aux_spans *out)
{
	const size_t at = PTC_PARTITION_POINT(i, 0, j->nsaid, j->said[i].queue < queue);
	size_t n = 0;

	while (at + n < j->nsaid && j->said[at + n].queue == queue)
		n++;
	return (struct walk){ .said = n ? &j->said[at] : NULL, .n = n, .out = out };
}

/* Returns the end of the range in @a. A size that would overflow is capped. */
static uint64_t end_of(const struct ptc_aux_said *a)
{
	return a->size > UINT64_MAX - a->off ? UINT64_MAX : a->off + a->size;
}

/* Append the span [w->pos, end). @a: the AUX record that covers it, or NULL. */
static bool append_aux_span(struct walk *w, uint64_t end, const struct ptc_aux_said *a)
{
	struct ptc_aux_span *s = new_span(w->out);

	if (!s)
		return false;
	s->off = w->pos;
	s->size = end - w->pos;
	s->after_ns = w->after_ns;
	s->lost = w->lost;
	w->pos = end;
	w->lost = 0;
	if (a) {
		s->told = true;
		s->flags = a->flags;
		if (a->time_ns)
			s->until_ns = a->time_ns;
	}
	return true;
}

/*
 * Append spans for the next record, within trace that ends at @end. *ret_more: the record extends
 * beyond @end.
 */
static bool put_record(struct walk *w, uint64_t end, bool *ret_more)
{
	const struct ptc_aux_said *a = &w->said[w->next];
	uint64_t until = end_of(a);

	*ret_more = until > end;
	if (*ret_more)
		until = end;
	if (a->off > w->pos && !append_aux_span(w, a->off, NULL))
		return false;
	/* A record that covers no byte here counts only if its flags report a loss. */
	if (until > w->pos || a->flags) {
		if (!append_aux_span(w, until > w->pos ? until : w->pos, a))
			return false;
		if (*ret_more) /* TRUNCATED refers to the end of the record */
			w->out->spans[w->out->n - 1].flags &= ~(uint64_t)PERF_AUX_FLAG_TRUNCATED;
	}
	if (!*ret_more) {
		w->next++;
		if (a->time_ns > w->after_ns)
			w->after_ns = a->time_ns;
	}
	return true;
}

/* Append spans for the contiguous trace [w->pos, end). */
static bool walk_range(struct walk *w, uint64_t end)
{
	const uint64_t start = w->pos;
	bool more = false;

	while (w->next < w->n && !more &&
	       (w->said[w->next].off < end || end_of(&w->said[w->next]) == end))
		if (!put_record(w, end, &more))
			return false;
	/* Bytes after the last AUX record may be padding, which is not part of the stream. */
	return (w->pos > start && end - w->pos <= PTC_PADDING_MAX) || end == w->pos ||
	       append_aux_span(w, end, NULL);
}

static bool walk_trace(struct walk *w, const struct ptc_queue *q)
{
	uint64_t start, end;
	size_t i;

	for (i = 0; i < q->nchunks;) {
		start = q->chunks[i].aux_off;
		if (i)
			w->lost += start - w->pos;
		end = start;
		for (; i < q->nchunks && q->chunks[i].aux_off <= end; i++)
			if (q->chunks[i].aux_off + q->chunks[i].size > end)
				end = q->chunks[i].aux_off + q->chunks[i].size;
		w->pos = start;
		if (!walk_range(w, end))
			return false;
	}
	return true;
}

/* The remaining records cover bytes that are not in the file. */
static bool walk_rest(struct walk *w)
{
	const struct ptc_aux_said *a;

	for (; w->next < w->n; w->next++) {
		a = &w->said[w->next];
		if (end_of(a) <= w->pos && !a->flags)
			continue;
		if (end_of(a) > w->pos) {
			w->lost += end_of(a) - w->pos;
			w->pos = end_of(a);
		}
		if (!append_aux_span(w, w->pos, a))
			return false;
		if (a->time_ns > w->after_ns)
			w->after_ns = a->time_ns;
	}
	return true;
}

/* Return whether offsets are positions in one stream, which is false in overwrite mode. */
static bool offsets_count(const struct walk *w, const struct ptc_queue *q)
{
	uint64_t end;
	size_t i;

	for (i = 0; i < w->n; i++)
		if (w->said[i].flags & PERF_AUX_FLAG_OVERWRITE)
			return false;
	for (i = 0; i < q->nchunks; i++)
		if (__builtin_add_overflow(q->chunks[i].aux_off, q->chunks[i].size, &end) ||
		    (i && q->chunks[i].aux_off < q->chunks[i - 1].aux_off))
			return false;
	return true;
}

static bool put_pieces(struct walk *w, const struct ptc_queue *q, const struct ptc_time_conv *conv)
{
	struct ptc_aux_span *s;
	size_t i;

	for (i = 0; i < q->nchunks; i++) {
		const struct ptc_chunk *c = &q->chunks[i];

		s = new_span(w->out);
		if (!s)
			return false;
		s->off = c->aux_off;
		s->size = c->size;
		s->after_ns = w->after_ns;
		if (conv && conv->mult && c->reference)
			s->until_ns = w->after_ns = ptc_tsc_to_ns(conv, c->reference);
		if (w->n)
			s->flags = w->said[0].flags & PERF_AUX_FLAG_OVERWRITE;
	}
	return true;
}

/* Set the time of bytes without an AUX record: not later than the copy of their chunk. */
static void note_references(struct ptc_aux_spans *s, const struct ptc_queue *q,
			    const struct ptc_time_conv *conv)
{
	size_t i, k = 0;

	for (i = 0; i < s->n; i++) {
		struct ptc_aux_span *sp = &s->spans[i];

		if (sp->until_ns != UINT64_MAX)
			continue;
		while (k < q->nchunks &&
		       q->chunks[k].aux_off + q->chunks[k].size < sp->off + sp->size)
			k++;
		if (k < q->nchunks && q->chunks[k].reference)
			sp->until_ns = ptc_tsc_to_ns(conv, q->chunks[k].reference);
	}
}

int ptc_aux_join_queue(const struct ptc_aux_join *j, const struct ptc_index *ix, size_t i,
		       const struct ptc_time_conv *conv, struct ptc_aux_spans *ret,
		       struct ptc_err *err)
{
	const struct ptc_queue *q = &ix->queues[i];
	struct ptc_aux_spans out = { NULL, 0, 0 };
	struct walk w = begin_walk(j, i, &out);
	bool good;

	if (!offsets_count(&w, q)) {
		good = put_pieces(&w, q, conv);
	} else {
		good = walk_trace(&w, q) && walk_rest(&w);
		if (good && conv && conv->mult)
			note_references(&out, q, conv);
	}
	if (!good) {
		ptc_aux_spans_release(&out);
		return ptc_fail_mem(err);
	}
	*ret = out;
	return 0;
}

void ptc_aux_spans_release(struct ptc_aux_spans *s)
{
	free(s->spans);
	*s = (struct ptc_aux_spans){ NULL, 0, 0 };
}

void ptc_aux_join_release(struct ptc_aux_join *j)
{
	free(j->said);
	free(j->ids);
	*j = (struct ptc_aux_join)PTC_AUX_JOIN_INIT;
}
