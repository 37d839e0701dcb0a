/* SPDX-License-Identifier: MIT */
/*
 * Taken jccs to the next instruction. A processor's branch stack has them. The trace has one bit of
 * each, but no path depends on it, so they are no transfers (doc/format.md). Here they are taken
 * out of a stack before it is aligned, and judged afterwards: their instruction must have run
 * there.
 */
#ifndef PTC_DECODE_ONWARD_H
#define PTC_DECODE_ONWARD_H

#include <stddef.h>
#include <stdint.h>

#include "decode/align.h"
#include "decode/wants.h"

struct ptc_addrspace;

struct ptc_onward {
	size_t n; /* taken out */
	struct {
		size_t at; /* its number in the whole stack */
		struct ptc_branch entry;
	} items[PTC_ALIGN_ENTRIES];
};

/*
 * Takes them out of @entries, @n at most PTC_ALIGN_ENTRIES. @as has the code; NULL: none are known.
 * Returns how many entries are left.
 */
size_t ptc_onward_take(struct ptc_onward *o, const struct ptc_addrspace *as,
		       struct ptc_branch *entries, size_t n);

/*
 * Puts them back into @entries, of which @n are left, and judges them by the verdicts of the
 * entries around: @verdicts has a place for all. @steps, @nsteps of them, are what the verdicts
 * name. @in is of the entries that are left.
 */
void ptc_onward_put(const struct ptc_onward *o, const struct ptc_align_in *in,
		    const struct ptc_wants *wants, const struct ptc_step *steps, size_t nsteps,
		    struct ptc_branch *entries, struct ptc_align_entry *verdicts);

#endif
