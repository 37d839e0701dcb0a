/* SPDX-License-Identifier: MIT */
#include "auxtrace/index.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "auxtrace/layout.h"
#include "base/err.h"
#include "base/vec.h"

/* Where a queue with @idx is, or would have to be put. */
static size_t find(const struct ptc_index *ix, uint32_t idx)
{
	size_t lo = 0, hi = ix->nqueues;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (ix->queues[mid].idx < idx)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct ptc_queue *get_queue(struct ptc_index *ix, const struct ptc_auxtrace *a, uint64_t off,
				   struct ptc_err *err)
{
	const size_t i = find(ix, a->idx);
	struct ptc_queue *q;
	void *items;

	if (i < ix->nqueues && ix->queues[i].idx == a->idx)
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
	q = &ix->queues[i];
	memmove(q + 1, q, (ix->nqueues - i) * sizeof(*q));
	*q = (struct ptc_queue){ .idx = a->idx, .tid = a->tid, .cpu = a->cpu };
	ix->nqueues++;
	return q;
}

int ptc_index_add(struct ptc_index *ix, const struct ptc_file *f, const struct ptc_rec *rec,
		  struct ptc_err *err)
{
	struct ptc_auxtrace a;
	struct ptc_cur bytes;
	struct ptc_queue *q = NULL; /* gcc cannot see that it is set */
	void *items;
	int rc;

	rc = ptc_file_auxtrace(f, rec, &a, &bytes, err);
	if (rc)
		return rc;
	q = get_queue(ix, &a, rec->off, err);
	if (!q)
		return err->code;
	if (q->nchunks == PTC_LIMIT_AUX_CHUNKS)
		return ptc_fail_at(err, PTC_E_LIMIT, rec->off,
				   "more than %u AUXTRACE pieces in queue %u", PTC_LIMIT_AUX_CHUNKS,
				   q->idx);
	items = q->chunks;
	if (!ptc_vec_reserve(&items, &q->cap, q->nchunks + 1, sizeof(*q->chunks)))
		return ptc_fail_mem(err);
	q->chunks = items;
	q->chunks[q->nchunks++] = (struct ptc_chunk){
		/* the payload starts where the record ends */
		.file_off = rec->off + PTC_REC_HEADER_SIZE + ptc_cur_left(&rec->body),
		.size = a.size,
		.aux_off = a.offset,
		.reference = a.reference,
	};
	q->bytes += a.size;
	return 0;
}

void ptc_index_release(struct ptc_index *ix)
{
	size_t i;

	for (i = 0; i < ix->nqueues; i++)
		free(ix->queues[i].chunks);
	free(ix->queues);
	*ix = (struct ptc_index)PTC_INDEX_INIT;
}

struct ptc_cur ptc_chunk_bytes(const struct ptc_file *f, const struct ptc_chunk *c)
{
	struct ptc_cur bytes = { NULL, NULL };
	const bool inside = ptc_file_bytes(f, c->file_off, c->size, &bytes);

	assert(inside); /* checked when it was added */
	(void)inside;
	return bytes;
}
