/* SPDX-License-Identifier: MIT */
/*
 * Passes a software source's ground truth to the session. The ring is separate from the trace
 * rings, because the source may be another process. Nothing is lost.
 */
#ifndef PTC_CAPTURE_SOFT_GROUND_TRUTH_H
#define PTC_CAPTURE_SOFT_GROUND_TRUTH_H

#include "capture/soft/insn_to_packets.h"
#include "ptcap/capture.h"
#include "ptcap/error.h"

struct ptc_truth;

/* Receives notes about branch stacks, in order with the branches. */
typedef void ptc_note_fn(void *ctx, const struct ptc_lbr_note *note);

int ptc_truth_new(struct ptc_truth **ret, struct ptc_err *err);
void ptc_truth_free(struct ptc_truth *t);

/* Producer: a ptc_truth_fn with a struct ptc_truth as @ctx. */
void ptc_truth_put(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind);
/* Producer: adds a note about a branch stack. */
void ptc_truth_put_note(struct ptc_truth *t, const struct ptc_lbr_note *note);
/* Producer: lets the consumer read all entries so far, since no more will come for a while. */
void ptc_truth_wake(struct ptc_truth *t);

/* Returns an eventfd, readable when there is something to drain. */
int ptc_truth_fd(const struct ptc_truth *t);
/* Passes all entries, in order: branches to @fn, and notes to @note, if @note is not NULL. */
int ptc_truth_drain(struct ptc_truth *t, ptc_truth_fn *fn, ptc_note_fn *note, void *ctx,
		    struct ptc_err *err);
/*
 * The consumer is gone: further entries are dropped. Any process may call it, also from a signal
 * handler.
 */
void ptc_truth_close(struct ptc_truth *t);

#endif
