/* SPDX-License-Identifier: MIT */
/*
 * What a software source saw, on its way to the session: a ring beside the
 * trace's own, because the source may be another process. Lossless.
 */
#ifndef PTC_CAPTURE_SOFT_TRUTH_H
#define PTC_CAPTURE_SOFT_TRUTH_H

#include "capture/soft/flow.h"
#include "ptcap/capture.h"
#include "ptcap/error.h"

struct ptc_truth;

/* What is told of branch stacks, between the transfers. */
typedef void ptc_note_fn(void *ctx, const struct ptc_lbr_note *note);

int ptc_truth_new(struct ptc_truth **ret, struct ptc_err *err);
void ptc_truth_free(struct ptc_truth *t);

/* The producer: a ptc_truth_fn, @ctx a struct ptc_truth. */
void ptc_truth_put(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind);
/* Of a branch stack. */
void ptc_truth_put_note(struct ptc_truth *t, const struct ptc_lbr_note *note);
/* No more is coming for now: what is there can be read. */
void ptc_truth_wake(struct ptc_truth *t);

/* Readable when there is something to drain; an eventfd. */
int ptc_truth_fd(const struct ptc_truth *t);
/* Hand what is there to @fn, in order, and notes to @note, if that is not NULL. */
int ptc_truth_drain(struct ptc_truth *t, ptc_truth_fn *fn, ptc_note_fn *note, void *ctx,
		    struct ptc_err *err);
/* Nobody drains any more: the rest is dropped. Any process; also from a signal handler. */
void ptc_truth_close(struct ptc_truth *t);

#endif
