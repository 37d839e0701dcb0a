/* SPDX-License-Identifier: MIT */
#include "capture/soft/ground_truth.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/rings/ring.h"
#include "capture/soft/softring.h"

enum { RING_SIZE = 1 << 20 };

enum type { TRANSFER = 1, SAMPLE, SPOILT };

/*
 * A branch, a sample with a branch stack, or an entry of it with an injected error. The size is a
 * power of two, so no entry wraps at the ring's end.
 */
struct entry {
	struct perf_event_header header;
	uint64_t from, to; /* for a sample: time and ip */
	int32_t tid;
	uint32_t word; /* by type: branch kind; number of entries; mode and index */
};

enum { INDEX_SHIFT = 8 };

_Static_assert(sizeof(struct entry) == 32, "a power of two");

struct ptc_truth {
	struct ptc_softring *soft; /* owned */
	struct ptc_ring ring;	   /* used by the consumer */
};

int ptc_truth_new(struct ptc_truth **ret, struct ptc_err *err)
{
	const struct ptc_softring_opts opts = { .data_size = RING_SIZE };
	struct ptc_truth *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return ptc_fail_mem(err);
	rc = ptc_softring_new(&opts, &t->soft, err);
	if (!rc)
		rc = ptc_ring_init(&t->ring, ptc_softring_page(t->soft),
				   (size_t)sysconf(_SC_PAGESIZE), RING_SIZE, err);
	if (rc)
		ptc_truth_free(t);
	else
		*ret = t;
	return rc;
}

void ptc_truth_free(struct ptc_truth *t)
{
	if (!t)
		return;
	ptc_softring_free(t->soft);
	free(t);
}

void ptc_truth_put(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind)
{
	static const struct ptc_sample_id none;
	struct ptc_truth *t = ctx;
	const struct entry e = {
		.header = { .type = TRANSFER, .size = sizeof(e) },
		.from = from,
		.to = to,
		.tid = tid,
		.word = kind,
	};

	(void)ptc_softring_record(t->soft, &e, sizeof(e), &none);
}

void ptc_truth_put_note(struct ptc_truth *t, const struct ptc_lbr_note *note)
{
	static const struct ptc_sample_id none;
	const bool spoilt = note->mode != PTC_SPOIL_NONE;
	const struct entry e = {
		.header = { .type = spoilt ? SPOILT : SAMPLE, .size = sizeof(e) },
		.from = spoilt ? note->from : note->time_ns,
		.to = spoilt ? note->to : note->ip,
		.tid = note->tid,
		.word = spoilt ? note->index << INDEX_SHIFT | (uint32_t)note->mode : note->n,
	};

	(void)ptc_softring_record(t->soft, &e, sizeof(e), &none);
}

void ptc_truth_wake(struct ptc_truth *t)
{
	ptc_softring_wake(t->soft);
}

int ptc_truth_fd(const struct ptc_truth *t)
{
	return ptc_softring_fd(t->soft);
}

static void hand_note(const struct entry *e, ptc_note_fn *fn, void *ctx)
{
	struct ptc_lbr_note note = { .tid = e->tid };

	if (e->header.type == SPOILT) {
		note.mode = (enum ptc_spoil)(e->word & ((1u << INDEX_SHIFT) - 1));
		note.index = e->word >> INDEX_SHIFT;
		note.from = e->from;
		note.to = e->to;
	} else {
		note.time_ns = e->from;
		note.ip = e->to;
		note.n = e->word;
	}
	fn(ctx, &note);
}

static void hand_over(const struct ptc_seg *seg, ptc_truth_fn *fn, ptc_note_fn *note, void *ctx)
{
	const uint8_t *bytes = seg->bytes;
	struct entry e;
	size_t pos;

	for (pos = 0; pos + sizeof(e) <= seg->len; pos += sizeof(e)) {
		memcpy(&e, bytes + pos, sizeof(e));
		if (e.header.type == TRANSFER)
			fn(ctx, e.tid, e.from, e.to, (enum ptc_kind)e.word);
		else if (note)
			hand_note(&e, note, ctx);
	}
}

int ptc_truth_drain(struct ptc_truth *t, ptc_truth_fn *fn, ptc_note_fn *note, void *ctx,
		    struct ptc_err *err)
{
	struct ptc_seg seg[2];
	uint64_t end;
	eventfd_t n;
	int64_t got;

	(void)eventfd_read(ptc_softring_fd(t->soft), &n);
	got = ptc_ring_read(&t->ring, seg, &end, err);
	if (got <= 0)
		return (int)got;
	hand_over(&seg[0], fn, note, ctx);
	hand_over(&seg[1], fn, note, ctx);
	ptc_ring_done(&t->ring, end);
	ptc_softring_consumed(t->soft);
	return 0;
}

void ptc_truth_close(struct ptc_truth *t)
{
	ptc_softring_close(t->soft);
}
