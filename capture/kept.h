/* SPDX-License-Identifier: MIT */
/*
 * The side records of a recording that waits for something, maybe for days: those that are about
 * what is in the AUX rings now as they came, all older ones folded into what they amount to.
 */
#ifndef PTC_CAPTURE_KEPT_H
#define PTC_CAPTURE_KEPT_H

#include <stdint.h>

#include "auxtrace/ledger.h"
#include "auxtrace/writer.h"
#include "base/buf.h"
#include "capture/source.h"

struct ptc_kept;

/* Bytes of records as they came, beyond which the oldest are folded whatever the rings have. */
#define PTC_KEPT_BYTES ((size_t)16 << 20)

struct ptc_kept_opts {
	uint64_t sample_type, id;	     /* of side records */
	const struct ptc_source_ring *rings; /* lent for the call */
	size_t nrings;
	size_t max_bytes; /* 0: PTC_KEPT_BYTES */
	const char *proc; /* "/proc" but for tests, lent: what is mapped is looked up there. NULL:
			     nowhere */
};

int ptc_kept_new(const struct ptc_kept_opts *opts, struct ptc_kept **ret, struct ptc_err *err);
void ptc_kept_free(struct ptc_kept *k);

/* Records of what ran before. */
int ptc_kept_before(struct ptc_kept *k, const struct ptc_buf *records, struct ptc_err *err);

/*
 * Records out of ring @i, in order; the losses they tell of are added to @ledger. Those of other
 * rings may be older than they are, but not than those of the round before the last.
 */
int ptc_kept_add(struct ptc_kept *k, size_t i, const struct ptc_seg seg[2],
		 struct ptc_ledger_ring *ledger, struct ptc_err *err);

/* All rings had their turn: fold what can be. */
int ptc_kept_round(struct ptc_kept *k, struct ptc_err *err);

/* Nothing of the trace before @until is wanted any more, and all records of that time are here. */
int ptc_kept_fold(struct ptc_kept *k, uint64_t until, struct ptc_err *err);

/*
 * What a file needs of all that: @state, the records that lead to what was at ptc_kept_since,
 * and @records, those from then on. Both are appended to.
 */
int ptc_kept_put(const struct ptc_kept *k, struct ptc_buf *state, struct ptc_buf *records,
		 struct ptc_err *err);

/* Trace that is older has no side records of its time any more. 0: there is none. */
uint64_t ptc_kept_since(const struct ptc_kept *k);

/* Bytes of records of ring @i that are kept as they came. */
size_t ptc_kept_bytes(const struct ptc_kept *k, size_t i);

#endif
