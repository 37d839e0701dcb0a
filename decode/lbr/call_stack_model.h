/* SPDX-License-Identifier: MIT */
/*
 * The calls that have not returned, as in the LBR's call-stack mode (SDM, "Filtering of last branch
 * records": EN_CALLSTACK). A near call is pushed, except a call to the next instruction. A near
 * return removes the newest call, from any function. So longjmp leaves calls behind, in the LBR and
 * here. Only calls of user space count.
 */
#ifndef PTC_DECODE_LBR_CALL_STACK_MODEL_H
#define PTC_DECODE_LBR_CALL_STACK_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "decode/lbr/align.h"

enum { PTC_LIVE_MAX = 1024 }; /* kept at least; more than the entries of a stack */

/* Starts zeroed. */
struct ptc_live {
	/* owned; oldest first; each has WANTED and END, except a gap, which is the first */
	struct ptc_step *calls;
	size_t n, cap;
	bool cut; /* older calls were dropped */
};

void ptc_live_release(struct ptc_live *l);

/*
 * Apply step @s, a branch or a gap. Sets *@ret_changed, if not NULL. Returns false if out of
 * memory.
 */
bool ptc_live_step(struct ptc_live *l, const struct ptc_step *s, bool *ret_changed);

/* Copy @from to @to. Returns false if out of memory. */
bool ptc_live_copy(struct ptc_live *to, const struct ptc_live *from);

#endif
