/* SPDX-License-Identifier: MIT */
#include "capture/soft/truth.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/ring.h"
#include "capture/soft/softring.h"

enum { RING_SIZE = 1 << 20, TYPE = 1 };

/* One transfer; a power of two in size, so none lies across the ring's end. */
struct entry {
	struct perf_event_header header;
	uint64_t from, to;
	int32_t tid;
	uint32_t kind;
};

_Static_assert(sizeof(struct entry) == 32, "a power of two");

struct ptc_truth {
	struct ptc_softring *soft; /* owned */
	struct ptc_ring ring;	   /* the consumer's */
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
		.header = { .type = TYPE, .size = sizeof(e) },
		.from = from,
		.to = to,
		.tid = tid,
		.kind = kind,
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

static void hand_over(const struct ptc_seg *seg, ptc_truth_fn *fn, void *ctx)
{
	const uint8_t *bytes = seg->bytes;
	struct entry e;
	size_t pos;

	for (pos = 0; pos + sizeof(e) <= seg->len; pos += sizeof(e)) {
		memcpy(&e, bytes + pos, sizeof(e));
		fn(ctx, e.tid, e.from, e.to, (enum ptc_kind)e.kind);
	}
}

int ptc_truth_drain(struct ptc_truth *t, ptc_truth_fn *fn, void *ctx, struct ptc_err *err)
{
	struct ptc_seg seg[2];
	uint64_t end;
	eventfd_t n;
	int64_t got;

	(void)eventfd_read(ptc_softring_fd(t->soft), &n);
	got = ptc_ring_read(&t->ring, seg, &end, err);
	if (got <= 0)
		return (int)got;
	hand_over(&seg[0], fn, ctx);
	hand_over(&seg[1], fn, ctx);
	ptc_ring_done(&t->ring, end);
	ptc_softring_consumed(t->soft);
	return 0;
}

void ptc_truth_close(struct ptc_truth *t)
{
	ptc_softring_close(t->soft);
}
