/* SPDX-License-Identifier: MIT */
/*
 * Keeps the sideband records of a recording that may wait for days for its trigger. Records about
 * trace that is still in the AUX rings stay unchanged. All older records are reduced to a state
 * (state_compactor.h).
 */
#ifndef PTC_CAPTURE_SNAPSHOT_RETAINED_RECORDS_H
#define PTC_CAPTURE_SNAPSHOT_RETAINED_RECORDS_H

#include <stdint.h>

#include "auxtrace/record/ledger.h"
#include "auxtrace/writer/writer.h"
#include "base/buf.h"
#include "capture/source/source.h"

struct ptc_kept;

/*
 * Limit in bytes for unchanged records. Beyond it the oldest are folded even if their trace is
 * still in the rings.
 */
#define PTC_KEPT_BYTES ((size_t)16 << 20)

struct ptc_kept_opts {
	uint64_t sample_type, id;	     /* of sideband records */
	const struct ptc_source_ring *rings; /* borrowed for the call */
	size_t nrings;
	size_t max_bytes; /* 0: PTC_KEPT_BYTES */
	/*
	 * "/proc", except in tests; borrowed. The folder in which current mappings are looked up.
	 * NULL: no look-up
	 */
	const char *proc;
};

int ptc_kept_new(const struct ptc_kept_opts *opts, struct ptc_kept **ret, struct ptc_err *err);
void ptc_kept_free(struct ptc_kept *k);

/* Folds records about processes that ran before the recording. */
int ptc_kept_before(struct ptc_kept *k, const struct ptc_buf *records, struct ptc_err *err);

/*
 * Adds records from ring @i, in ring order, and adds the losses they report to @ledger. Records of
 * other rings may be older than these, but not older than the records of the round before the last.
 */
int ptc_kept_add(struct ptc_kept *k, size_t i, const struct ptc_seg seg[2],
		 struct ptc_ledger_ring *ledger, struct ptc_err *err);

/* Call after each round over all rings. Folds as many records as possible. */
int ptc_kept_round(struct ptc_kept *k, struct ptc_err *err);

/*
 * Folds all records before @until. The caller needs no trace from before @until, and has added all
 * records of that time.
 */
int ptc_kept_fold(struct ptc_kept *k, uint64_t until, struct ptc_err *err);

/*
 * Appends the records that a file needs. @state: records that recreate the state at ptc_kept_since.
 * @records: the records from then on.
 */
int ptc_kept_put(const struct ptc_kept *k, struct ptc_buf *state, struct ptc_buf *records,
		 struct ptc_err *err);

/*
 * Returns the time before which all records are folded: older trace has no sideband records any
 * more. 0: no record was folded.
 */
uint64_t ptc_kept_since(const struct ptc_kept *k);

/* Returns the number of bytes of unchanged records of ring @i. */
size_t ptc_kept_bytes(const struct ptc_kept *k, size_t i);

#endif
