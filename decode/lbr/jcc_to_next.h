/* SPDX-License-Identifier: MIT */
/*
 * Taken conditional jumps (jcc) to the next instruction. A processor's branch stack contains them.
 * The trace has one TNT bit for each, but no path depends on the bit, so ptcap lists no branch for
 * them (doc/format.md). They are removed from a stack before alignment and judged afterwards: the
 * jump instruction must have run at that place.
 */
#ifndef PTC_DECODE_LBR_JCC_TO_NEXT_H
#define PTC_DECODE_LBR_JCC_TO_NEXT_H

#include <stddef.h>
#include <stdint.h>

#include "decode/lbr/align.h"
#include "decode/lbr/branch_filter.h"

struct ptc_addrspace;

struct ptc_onward {
	size_t n; /* number of removed entries */
	struct {
		size_t at; /* index in the whole stack */
		struct ptc_branch entry;
	} items[PTC_ALIGN_ENTRIES];
};

/*
 * Moves these jumps from @entries to @o. @n is at most PTC_ALIGN_ENTRIES. @as provides the code;
 * NULL: no jump is recognized. Returns how many entries are left.
 */
size_t ptc_onward_take(struct ptc_onward *o, const struct ptc_addrspace *as,
		       struct ptc_branch *entries, size_t n);

/*
 * Puts the jumps back into @entries, which has @in->n entries left, and judges each one by the
 * verdicts of its neighbours. @verdicts must have space for all entries. The verdicts refer to the
 * @nsteps elements of @steps. @in describes the entries that are left.
 */
void ptc_onward_put(const struct ptc_onward *o, const struct ptc_align_in *in,
		    const struct ptc_wants *wants, const struct ptc_step *steps, size_t nsteps,
		    struct ptc_branch *entries, struct ptc_align_entry *verdicts);

#endif
