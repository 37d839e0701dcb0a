/* SPDX-License-Identifier: MIT */
/*
 * Aligns one sample's branch stack with the branches that the trace has of its thread around that
 * time. Finds the cheapest reading of the entries as a run of traced branches, among all places
 * that the time allows. Gives each entry a verdict. The cost model and why:
 * doc/adr/0017-branch-stacks-are-aligned.md.
 *
 * Pure: uses no file and no clock. n entries and w steps take O(n w) time and memory. If all
 * entries are exact, the time is O(n + w). If few entries are not exact, most of the n w cells cost
 * too much to be looked at. One test finds this out for 64 cells at once.
 */
#ifndef PTC_DECODE_LBR_ALIGN_H
#define PTC_DECODE_LBR_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/compare.h"
#include "ptcap/sample.h"

enum {
	PTC_ALIGN_ENTRIES = 512,   /* entries of a stack, at most */
	PTC_ALIGN_CELLS = 4 << 20, /* entries times steps, at most; older steps are dropped */
};

/* Flags of a struct ptc_step, a branch of the thread or a gap. The kind of a gap is its cause. */
enum {
	PTC_STEP_GAP = 1,    /* no branch: trace is missing here */
	PTC_STEP_WANTED = 2, /* passes the sample's filter */
	PTC_STEP_END = 4,    /* by its time, it may be the newest branch of the stack */
	PTC_STEP_FITS = 8,   /* the sample's ip is between it and the next wanted branch */
};

struct ptc_align_in {
	const struct ptc_branch *entries; /* newest first */
	size_t n;			  /* at most PTC_ALIGN_ENTRIES */
	const struct ptc_step *steps;	  /* oldest first */
	size_t nsteps;
	bool begins; /* the thread was not traced before the first step */
	bool types;  /* entry types are valid: the event has save_type */
	bool flags;  /* prediction flags are valid: the event does not have no_flags */
	/*
	 * NULL, or [n + 1]. foreign[k]: another thread may have left the k oldest entries, which it
	 * took as one run.
	 */
	const bool *foreign;
};

#define PTC_ALIGN_NONE SIZE_MAX

/* The result for the entry with the same index. */
struct ptc_align_entry {
	size_t step;	  /* index of the step that the entry is read as; PTC_ALIGN_NONE */
	uint32_t missing; /* steps between it and the next older entry that the stack lacks */
	uint8_t verdict;  /* enum ptc_verdict */
	uint8_t cause;	  /* for PTC_VERDICT_GAP: enum ptc_gap_cause */
};

struct ptc_align_result {
	uint32_t cost;
	size_t candidates; /* places with an equally cheap reading */
	bool fits;	   /* the ip fits somewhere, so shift is valid */
	uint32_t shift;	   /* least number of branches between the stack's end and the ip */
	/* bit k: shift k is possible; 0: not computed, or the stack is not exact */
	uint32_t shifts;
	bool limited; /* see ptc_stale_run */
};

/* Working memory, for reuse. Starts zeroed. */
struct ptc_align {
	uint16_t *ahead, *behind; /* owned: costs up to a cell, and from there to the end */
	uint8_t *alive;		  /* owned; one per block of a row: may one of its cells matter? */
	size_t cap;
};

void ptc_align_release(struct ptc_align *a);

/* Sets ret_entries[0..n). Returns 0 or PTC_E_NO_MEMORY. */
int ptc_align_run(struct ptc_align *a, const struct ptc_align_in *in,
		  struct ptc_align_entry *ret_entries, struct ptc_align_result *ret);

#endif
