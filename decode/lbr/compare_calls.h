/* SPDX-License-Identifier: MIT */
/*
 * Compares a sample's stack (LBR call-stack mode) with the calls that had not returned around that
 * time.
 */
#ifndef PTC_DECODE_LBR_COMPARE_CALLS_H
#define PTC_DECODE_LBR_COMPARE_CALLS_H

#include "decode/lbr/align.h"
#include "decode/lbr/call_stack_model.h"
#include "decode/lbr/thread_history.h"

/* Working memory, for reuse. Starts zeroed. */
struct ptc_compare_calls {
	struct ptc_live now;  /* calls at the place that is looked at */
	struct ptc_live best; /* calls at the cheapest reading; the verdicts refer to them */
};

void ptc_compare_calls_release(struct ptc_compare_calls *c);

/*
 * The steps of @t from number @first on have PTC_STEP_END and PTC_STEP_FITS set: the places that
 * time and ip allow. At each place the entries of @in are read as the newest live calls. The
 * cheapest reading counts. If equally cheap readings of other places differ about an entry, the
 * entry is ambiguous. Points @in's steps to the calls that ret_entries[0..n) refer to. Returns 0 or
 * PTC_E_NO_MEMORY.
 */
int ptc_compare_calls_run(struct ptc_compare_calls *c, struct ptc_align *a,
			  struct ptc_thread_history_thread *t, size_t first,
			  struct ptc_align_in *in, struct ptc_align_entry *ret_entries,
			  struct ptc_align_result *ret);

#endif
