/* SPDX-License-Identifier: MIT */
#include "auxtrace/reader/aux_index.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/record/layout.h"
#include "base/err.h"
#include "base/idmap.h"
#include "base/sorted.h"
#include "base/vec.h"

enum { BATCH = 64 }; /* records read per call */

size_t ptc_index_find(const struct ptc_index *ix, uint32_t idx)
{
	size_t at;

	if (ix->places)
		return ptc_idmap_find(ix->places, (int32_t)idx);
	at = PTC_PARTITION_POINT(i, 0, ix->nqueues, ix->queues[i].idx < idx);
	return at < ix->nqueues && ix->queues[at].idx == idx ? at : SIZE_MAX;
}

/* --- queues that do not arrive in ascending order --- */

static void forget_places(struct ptc_index *ix)
{
	if (ix->places)
		ptc_idmap_release(ix->places);
	free(ix->places);
	ix->places = NULL;
}

/* Switch to a table of positions, because queues are now in order of arrival. */
static bool note_places(struct ptc_index *ix)
{
	bool ok;
	size_t i;

	ix->places = calloc(1, sizeof(*ix->places));
	ok = ix->places != NULL;
	for (i = 0; i < ix->nqueues && ok; i++)
		ok = ptc_idmap_add(ix->places, (int32_t)ix->queues[i].idx, i);
	if (!ok)
		forget_places(ix);
	return ok;
}

/* Record the position of queue @idx, which the caller is about to append. */
static bool note_place(struct ptc_index *ix, uint32_t idx)
{
	const bool ascends = !ix->nqueues || ix->queues[ix->nqueues - 1].idx < idx;

	if (!ix->places && (ascends || !note_places(ix)))
		return ascends;
	return ptc_idmap_add(ix->places, (int32_t)idx, ix->nqueues);
}

static int by_idx(const void *a, const void *b)
{
	const struct ptc_queue *x = a, *y = b;

	return x->idx < y->idx ? -1 : x->idx > y->idx;
}

void ptc_index_sort(struct ptc_index *ix)
{
	if (ix->places)
		qsort(ix->queues, ix->nqueues, sizeof(*ix->queues), by_idx);
	forget_places(ix);
}

/* --- adding --- */

static struct ptc_queue *get_queue(struct ptc_index *ix, const struct ptc_auxtrace *a, uint64_t off,
				   struct ptc_err *err)
{
	const size_t i = ptc_index_find(ix, a->idx);
	struct ptc_queue *q;
	void *items;

	if (i != SIZE_MAX)
		return &ix->queues[i];
	if (ix->nqueues == PTC_LIMIT_QUEUES) {
		(void)ptc_fail_at(err, PTC_E_LIMIT, off, "more than %u AUXTRACE queues",
				  PTC_LIMIT_QUEUES);
		return NULL;
	}
	items = ix->queues;
	if (!ptc_vec_reserve(&items, &ix->cap, ix->nqueues + 1, sizeof(*q))) {
		(void)ptc_fail_mem(err);
		return NULL;
	}
	ix->queues = items;
	if (!note_place(ix, a->idx)) {
		(void)ptc_fail_mem(err);
		return NULL;
	}
	q = &ix->queues[ix->nqueues++];
	*q = (struct ptc_queue){ .idx = a->idx, .tid = a->tid, .cpu = a->cpu };
	return q;
}

/*
 * Add the chunk described by @a, whose payload is at @file_off. @off: offset of the record, for
 * messages.
 */
static struct ptc_queue *add_trace_chunk(struct ptc_index *ix, const struct ptc_auxtrace *a,
					 uint64_t off, uint64_t file_off, struct ptc_err *err)
{
	struct ptc_queue *q = get_queue(ix, a, off, err);
	void *items;

	if (!q)
		return NULL;
	if (q->nchunks == PTC_LIMIT_AUX_CHUNKS) {
		(void)ptc_fail_at(err, PTC_E_LIMIT, off, "more than %u AUXTRACE pieces in queue %u",
				  PTC_LIMIT_AUX_CHUNKS, q->idx);
		return NULL;
	}
	items = q->chunks;
	if (!ptc_vec_reserve(&items, &q->cap, q->nchunks + 1, sizeof(*q->chunks))) {
		(void)ptc_fail_mem(err);
		return NULL;
	}
	q->chunks = items;
	q->chunks[q->nchunks++] = (struct ptc_chunk){
		.file_off = file_off,
		.size = a->size,
		.aux_off = a->offset,
		.reference = a->reference,
	};
	q->bytes += a->size;
	return q;
}

int ptc_index_add(struct ptc_index *ix, const struct ptc_file *f, const struct ptc_rec *rec,
		  struct ptc_err *err)
{
	struct ptc_auxtrace a;
	struct ptc_cur bytes;
	int rc;

	rc = ptc_file_auxtrace(f, rec, &a, &bytes, err);
	if (rc)
		return rc;
	/* The payload starts after the record. */
	return add_trace_chunk(ix, &a, rec->off,
			       rec->off + PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body), err) ?
		       0 :
		       err->code;
}

int ptc_index_add_sample(struct ptc_index *ix, const struct ptc_file *f,
			 const struct ptc_aux_sample *s, struct ptc_err *err)
{
	const size_t i = ptc_index_find(ix, s->idx);
	const struct ptc_auxtrace a = {
		.size = s->size,
		.offset = i == SIZE_MAX ? 0 : ix->queues[i].bytes,
		.reference = s->reference,
		.idx = s->idx,
		.tid = s->tid,
		.cpu = s->cpu,
	};
	struct ptc_queue *q;
	struct ptc_cur bytes;

	if (!ptc_file_bytes(f, s->file_off, s->size, &bytes))
		return ptc_fail_at(err, PTC_E_FORMAT, s->file_off,
				   "trace in a sample is outside the file");
	q = add_trace_chunk(ix, &a, s->file_off, s->file_off, err);
	if (!q)
		return err->code;
	q->samples = true;
	return 0;
}

int ptc_index_scan(struct ptc_index *ix, const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_rec recs[BATCH];
	uint64_t pos = 0;
	int i, n;

	while ((n = ptc_file_next_batch(f, &pos, recs, BATCH, err)) > 0)
		for (i = 0; i < n; i++)
			if (recs[i].type == PTC_REC_AUXTRACE && ptc_index_add(ix, f, &recs[i], err))
				return ptc_file_err_name(f, err);
	ptc_index_sort(ix);
	return n;
}

/* Add the AUXTRACE record at @off of @f. @size: its size without the payload. */
static int add_entry(struct ptc_index *ix, const struct ptc_file *f, uint64_t off, uint64_t size,
		     struct ptc_err *err)
{
	uint64_t pos = off - ptc_file_data_off(f);
	struct ptc_rec rec;
	struct ptc_err why;

	if (off < ptc_file_data_off(f) || pos >= ptc_file_data_size(f) ||
	    ptc_file_next(f, &pos, &rec, &why) <= 0 || rec.type != PTC_REC_AUXTRACE ||
	    size != PTC_REC_HEADER_SIZE + ptc_cur_left(&rec.body))
		return ptc_fail_at(err, PTC_E_FORMAT, off,
				   "the AUXTRACE feature lists a record that is not there");
	return ptc_index_add(ix, f, &rec, err);
}

/*
 * Get the feature's entries, a u64 offset and a u64 size each. Returns their number, or
 * PTC_E_FORMAT.
 */
static int64_t entries(const struct ptc_file *f, struct ptc_cur *ret, struct ptc_err *err)
{
	uint64_t n, off;

	if (!ptc_file_feature(f, PTC_FEAT_AUXTRACE, ret, &off))
		return 0;
	if (!ptc_cur_le64(ret, &n) || n > ptc_cur_left(ret) / 16)
		return ptc_fail_at(err, PTC_E_FORMAT, off,
				   "the AUXTRACE feature is too short for its entries");
	return (int64_t)n;
}

int ptc_index_feature(struct ptc_index *ix, const struct ptc_file *f, struct ptc_err *err)
{
	struct ptc_cur c = { NULL, NULL };
	uint64_t off, size, last = 0;
	int64_t n, i;
	int rc = 0;

	n = entries(f, &c, err);
	if (n < 0)
		return ptc_file_err_name(f, err);
	for (i = 0; i < n && !rc && ptc_cur_le64(&c, &off) && ptc_cur_le64(&c, &size); i++) {
		if (i && off <= last)
			rc = ptc_fail_at(err, PTC_E_FORMAT, off,
					 "the AUXTRACE feature is not in ascending order");
		else
			rc = add_entry(ix, f, off, size, err);
		last = off;
	}
	ptc_index_sort(ix);
	return rc ? ptc_file_err_name(f, err) : n > 0;
}

int ptc_index_open(struct ptc_index *ix, const struct ptc_file *f, struct ptc_err *ret_complaint,
		   struct ptc_err *err)
{
	int r = ptc_index_feature(ix, f, err);

	memset(ret_complaint, 0, sizeof(*ret_complaint));
	if (r > 0)
		return 0;
	ptc_index_release(ix);
	if (r < 0 && r != PTC_E_FORMAT)
		return r;
	if (r < 0)
		*ret_complaint = *err;
	return ptc_index_scan(ix, f, err);
}

static bool same_pieces(const struct ptc_queue *a, const struct ptc_queue *b)
{
	size_t i;

	if (a->idx != b->idx || a->nchunks != b->nchunks)
		return false;
	for (i = 0; i < a->nchunks; i++)
		if (a->chunks[i].file_off != b->chunks[i].file_off)
			return false;
	return true;
}

static size_t count_pieces(const struct ptc_index *ix)
{
	size_t i, n = 0;

	for (i = 0; i < ix->nqueues; i++)
		n += ix->queues[i].samples ? 0 : ix->queues[i].nchunks;
	return n;
}

bool ptc_index_agrees(const struct ptc_index *scan, const struct ptc_file *f,
		      struct ptc_err *ret_complaint)
{
	struct ptc_index listed = PTC_INDEX_INIT;
	size_t i, k = 0;
	bool same = true, good;
	int r;

	r = ptc_index_feature(&listed, f, ret_complaint);
	good = r >= 0;
	for (i = 0; i < scan->nqueues && r > 0 && same; i++) {
		if (scan->queues[i].samples)
			continue;
		same = k < listed.nqueues && same_pieces(&scan->queues[i], &listed.queues[k]);
		k++;
	}
	if (r > 0 && (!same || k < listed.nqueues)) {
		good = false;
		(void)ptc_fail(
			ret_complaint, PTC_E_FORMAT,
			"the AUXTRACE feature lists %zu pieces of trace, not the %zu there are",
			count_pieces(&listed), count_pieces(scan));
		(void)ptc_file_err_name(f, ret_complaint);
	}
	ptc_index_release(&listed);
	return good;
}

void ptc_index_release(struct ptc_index *ix)
{
	size_t i;

	for (i = 0; i < ix->nqueues; i++)
		free(ix->queues[i].chunks);
	free(ix->queues);
	forget_places(ix);
	*ix = (struct ptc_index)PTC_INDEX_INIT;
}

struct ptc_cur ptc_chunk_bytes(const struct ptc_file *f, const struct ptc_chunk *c)
{
	struct ptc_cur bytes = { NULL, NULL };
	const bool inside = ptc_file_bytes(f, c->file_off, c->size, &bytes);

	assert(inside); /* checked when the chunk was added */
	(void)inside;
	return bytes;
}
