/* SPDX-License-Identifier: MIT */
/*
 * Finds where a sample's branch stack fits in a thread's branches, by the sample's time and ip.
 *
 * The newest entry must be at one of these branches: from the last one that may have been under way
 * @slack before the sample, to the last one @slack after it, and a few in front of those.
 */
#ifndef PTC_DECODE_LBR_CANDIDATES_H
#define PTC_DECODE_LBR_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/lbr/align.h"
#include "decode/lbr/branch_filter.h"
#include "decode/lbr/thread_history.h"

struct ptc_place {
	struct ptc_wants wants; /* the sample's branch filter */
	uint64_t ip;
	uint64_t since; /* the sample's time minus @slack */
};

/*
 * Fast path: tries positions where the stack matches exactly and ends at the ip. Most stacks do. If
 * several positions match, reads the newest. Returns false if none does, with nothing set. Steps
 * are numbered as in @t; the steps in @in are not used.
 */
bool ptc_place_exact(const struct ptc_place *p, const struct ptc_thread_history_thread *t,
		     const struct ptc_align_in *in, struct ptc_align_entry *ret_entries,
		     struct ptc_align_result *ret);

/*
 * Returns by how many branches the unchanged stack ends in front of the ip: bit k is set if k is
 * possible at any position. Looks at every step of the sample's time. Returns 0 if the stack or the
 * ip is nowhere.
 */
uint32_t ptc_place_shifts(const struct ptc_place *p, const struct ptc_thread_history_thread *t,
			  const struct ptc_align_in *in);

/*
 * Sets the flags of the steps to search for a stack of @n entries. Returns the first of these
 * steps.
 */
size_t ptc_place_steps(const struct ptc_place *p, struct ptc_thread_history_thread *t, size_t n);

#endif
