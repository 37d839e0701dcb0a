/* SPDX-License-Identifier: MIT */
/* A sample's stack of the LBR's call-stack mode against the calls that had not returned around that
 * time. */
#ifndef PTC_DECODE_COMPARE_CALLS_H
#define PTC_DECODE_COMPARE_CALLS_H

#include "decode/align.h"
#include "decode/live.h"
#include "decode/recent.h"

/* Working memory, to be used again and again. Starts zeroed. */
struct ptc_compare_calls {
	struct ptc_live now;  /* at the place that is looked at */
	struct ptc_live best; /* where the stack is read; what the verdicts name */
};

void ptc_compare_calls_release(struct ptc_compare_calls *c);

/*
 * @t's steps from number @first on have their PTC_STEP_END and PTC_STEP_FITS: the places that time
 * and ip allow. At each of them @in's entries are read as the newest of the live calls; the
 * cheapest reading counts, and what equally cheap ones of other places differ about is ambiguous.
 * @in's steps are set to what ret_entries[0..n) name. Returns 0 or PTC_E_NO_MEMORY.
 */
int ptc_compare_calls_run(struct ptc_compare_calls *c, struct ptc_align *a,
			  struct ptc_recent_thread *t, size_t first, struct ptc_align_in *in,
			  struct ptc_align_entry *ret_entries, struct ptc_align_result *ret);

#endif
