/* SPDX-License-Identifier: MIT */
/*
 * One sample's branch stack against what the trace says of its thread around that time: the
 * cheapest way to read the entries as a piece of the trace, of all pieces that the time allows,
 * and a verdict for each entry. The cost model and why: doc/adr/0017-branch-stacks-are-aligned.md.
 *
 * Pure: no file, no clock. With n entries and w steps it takes O(n w) time and memory; where all
 * entries are exact, O(n + w) time. Where few are not, most of the n w cells cost too much already
 * to be looked at, which is seen for 64 at once.
 */
#ifndef PTC_DECODE_ALIGN_H
#define PTC_DECODE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/verdict.h"
#include "ptcap/sample.h"

enum {
	PTC_ALIGN_ENTRIES = 512,   /* at most, of a stack */
	PTC_ALIGN_CELLS = 4 << 20, /* entries times steps, at most; older steps are left out */
};

enum {
	PTC_STEP_GAP = 1,    /* no transfer: here trace is missing */
	PTC_STEP_WANTED = 2, /* the sample's filter lets it through */
	PTC_STEP_END = 4,    /* going by the time it can be the newest of the stack */
	PTC_STEP_FITS = 8,   /* the sample's ip is between it and the next that is wanted */
};

/* A transfer of the thread. */
struct ptc_step {
	uint64_t from, to; /* 0 as in struct ptc_item: such are not in branch stacks */
	uint64_t time;
	uint8_t kind, flags; /* of a gap kind is its enum ptc_gap_cause */
};

struct ptc_align_in {
	const struct ptc_branch *entries; /* the newest first */
	size_t n;			  /* at most PTC_ALIGN_ENTRIES */
	const struct ptc_step *steps;	  /* the oldest first */
	size_t nsteps;
	bool begins; /* in front of the first step the thread was not traced */
	bool types;  /* the entries' types are claims: save_type */
	bool flags;  /* so is whether they were predicted: no_flags is not asked for */
	/* NULL: none; else [n + 1]: may so many of the oldest entries be left over from another
	 * thread, as one piece that it took? */
	const bool *foreign;
};

#define PTC_ALIGN_NONE SIZE_MAX

/* Of the entries, by their numbers. */
struct ptc_align_entry {
	size_t step;	  /* that it is read as; PTC_ALIGN_NONE */
	uint32_t missing; /* steps between it and the next older entry that the stack lacks */
	uint8_t verdict;  /* enum ptc_verdict */
	uint8_t cause;	  /* PTC_VERDICT_GAP: enum ptc_gap_cause */
};

struct ptc_align_result {
	uint32_t cost;
	size_t candidates; /* places at which it is read equally cheaply */
	bool fits;	   /* the ip fits somewhere; then: */
	uint32_t shift;	   /* how many transfers the stack ends in front of it, at least */
	uint32_t shifts;   /* bit k: it can be k; 0: not looked at, or the stack is not exact */
	bool limited;	   /* see ptc_foreign_run */
};

/* Working memory, to be used again and again. Starts zeroed. */
struct ptc_align {
	uint16_t *ahead, *behind; /* owned: costs up to a cell, and from there to the end */
	uint8_t *alive;		  /* owned; of each block of a row: is any of its cells? */
	size_t cap;
};

void ptc_align_release(struct ptc_align *a);

/* ret_entries[0..n). Returns 0 or PTC_E_NO_MEMORY. */
int ptc_align_run(struct ptc_align *a, const struct ptc_align_in *in,
		  struct ptc_align_entry *ret_entries, struct ptc_align_result *ret);

#endif
