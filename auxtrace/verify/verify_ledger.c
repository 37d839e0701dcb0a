/* SPDX-License-Identifier: MIT */
/* Checks of the ledger: its numbers against each other, and against the file. */
#include <inttypes.h>
#include <stdlib.h>

#include "auxtrace/verify/verify_private.h"
#include "base/err.h"

enum { PADDING = 7 }; /* padding of a chunk, in bytes */

static void verify_event(struct ptc_verify *v, uint64_t off, const struct ptc_ledger_event *e)
{
	if (!ptc_file_attr_of_id(v->f, e->id))
		ptc_verify_say(v, "ledger", off, "the ledger has id %" PRIu64 ", of no event",
			       e->id);
}

static void verify_balance(struct ptc_verify *v, uint64_t off, const struct ptc_ledger_ring *r)
{
	const char *what = NULL;

	if (r->data_stored > r->data_read || r->aux_stored > r->aux_read)
		what = "more in the file than was read";
	else if (r->data_read > r->data_made || (r->aux_made && r->aux_read > r->aux_made) ||
		 (r->aux_made && r->aux_overrun > r->aux_made - r->aux_read))
		what = "more read and overwritten than was made";
	if (what)
		ptc_verify_say(v, "ledger", off, "of ring %" PRIu64 " the ledger has %s", r->idx,
			       what);
}

int ptc_verify_take_ledger(struct ptc_verify *v, const struct ptc_rec *rec, struct ptc_err *err)
{
	struct ptc_ledger_ring r;
	struct ptc_ledger_event e;
	struct ptc_ledger l;
	struct ptc_err broken;
	const int rc = ptc_ledger_parse(rec, &l, &broken);

	if (rc < 0)
		ptc_verify_say_err(v, "record", &broken);
	if (rc <= 0)
		return 0;
	while (ptc_ledger_next_event(&l, &e))
		verify_event(v, rec->off, &e);
	while (ptc_ledger_next_ring(&l, &r)) {
		verify_balance(v, rec->off, &r);
		ptc_ledger_add(&v->ledger_sum, &r);
		ptc_buf_put(&v->ledger, &r, sizeof(r));
		v->ledger_off = rec->off;
	}
	return ptc_buf_failed(&v->ledger) ? ptc_fail_mem(err) : 0;
}

static struct ptc_ledger_ring ring_at(const struct ptc_verify *v, size_t i)
{
	struct ptc_ledger_ring r;

	memcpy(&r, v->ledger.bytes + i * sizeof(r), sizeof(r));
	return r;
}

bool ptc_verify_is_missing(const struct ptc_verify *v, uint32_t idx)
{
	size_t i;

	for (i = 0; i < v->ledger.len / sizeof(struct ptc_ledger_ring); i++) {
		const struct ptc_ledger_ring r = ring_at(v, i);

		if (r.idx == idx && (r.aux_stored < r.aux_read || r.aux_overrun))
			return true;
	}
	return false;
}

static const struct ptc_queue *queue_of(const struct ptc_verify *v, uint64_t idx)
{
	const size_t i = idx > UINT32_MAX ? SIZE_MAX : ptc_index_find(&v->index, (uint32_t)idx);

	return i == SIZE_MAX ? NULL : &v->index.queues[i];
}

/* The trace of one ring in the file: at least the stored bytes, at most these plus padding. */
static void verify_trace_of(struct ptc_verify *v, const struct ptc_ledger_ring *r)
{
	const struct ptc_queue *q = queue_of(v, r->idx);
	const uint64_t bytes = q ? q->bytes : 0;
	const uint64_t pad = q ? PADDING * (uint64_t)q->nchunks : 0;

	if (bytes < r->aux_stored || bytes - r->aux_stored > pad)
		ptc_verify_say(v, "ledger", v->ledger_off,
			       "of queue %" PRIu64 " the ledger has %" PRIu64
			       " bytes of trace, the file %" PRIu64,
			       r->idx, r->aux_stored, bytes);
}

/* Records that were read but not stored may have reported more losses. */
static void verify_count(struct ptc_verify *v, const char *what, uint64_t said, uint64_t seen)
{
	const struct ptc_ledger_ring *sum = &v->ledger_sum;

	if (said < seen || (said > seen && sum->data_read == sum->data_stored))
		ptc_verify_say(v, "ledger", v->ledger_off,
			       "the ledger has %" PRIu64 " %s, the records %" PRIu64, said, what,
			       seen);
}

void ptc_verify_ledger(struct ptc_verify *v)
{
	const struct ptc_ledger_ring *sum = &v->ledger_sum, *seen = &v->seen;
	const size_t n = v->ledger.len / sizeof(struct ptc_ledger_ring);
	struct ptc_ledger_ring r;
	size_t i;

	if (!n)
		return;
	for (i = 0; i < n; i++) {
		r = ring_at(v, i);
		verify_trace_of(v, &r);
	}
	verify_count(v, "lost records", sum->lost_records, seen->lost_records);
	verify_count(v, "lost samples", sum->lost_samples, seen->lost_samples);
	verify_count(v, "throttled events", sum->throttled, seen->throttled);
	verify_count(v, "truncated pieces", sum->truncated, seen->truncated);
	verify_count(v, "partial pieces", sum->partial, seen->partial);
	verify_count(v, "collisions", sum->collisions, seen->collisions);
}
