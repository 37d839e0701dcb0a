/* SPDX-License-Identifier: MIT */
/* Branch stacks of samples: struct perf_branch_entry of include/uapi/linux/perf_event.h. */
#ifndef PTC_AUXTRACE_BRANCH_H
#define PTC_AUXTRACE_BRANCH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"

enum { PTC_BRANCH_SIZE = 24 }; /* from, to, flags */

struct ptc_branch {
	uint64_t from, to;
	bool mispred, predicted; /* neither: the CPU does not say */
	bool in_tx, abort;
	uint16_t cycles;   /* since the branch before; 0: not known */
	uint8_t type;	   /* PERF_BR_*; PERF_BR_EXTEND_ABI: see new_type */
	uint8_t spec;	   /* PERF_BR_SPEC_* */
	uint8_t new_type;  /* PERF_BR_NEW_* */
	uint8_t priv;	   /* PERF_BR_PRIV_* */
	uint32_t reserved; /* bits no kernel has defined yet */
	uint64_t counters; /* occurrences of events, packed as the PMU's branch_counter_* say; 0
			    * without PERF_SAMPLE_BRANCH_COUNTERS */
};

struct ptc_branches { /* the newest branch first */
	uint64_t n;
	bool has_hw_idx;
	uint64_t hw_idx; /* of the newest entry in the hardware's ring; all ones: not known */
	bool has_counters;
	struct ptc_cur entries;	 /* lent: PTC_BRANCH_SIZE each */
	struct ptc_cur counters; /* lent: u64 each */
};

/*
 * Take a branch stack from the front of @c; @ret->has_hw_idx and has_counters
 * say on entry what it has. False (nothing changed): too few bytes.
 */
bool ptc_branches_parse(struct ptc_cur *c, struct ptc_branches *ret);

/* Take the next branch of @s. False: no more. */
bool ptc_branches_next(struct ptc_branches *s, struct ptc_branch *ret);

/* Append one entry, without its counters: they stand together behind the entries. */
void ptc_branch_put(struct ptc_buf *b, const struct ptc_branch *e);

/*
 * Append the stack: the inverse of parse. @s->n is not used. Entries that are
 * not whole, or counters that are not one each, fail @b.
 */
void ptc_branches_put(struct ptc_buf *b, const struct ptc_branches *s);

#endif
