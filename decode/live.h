/* SPDX-License-Identifier: MIT */
/*
 * The calls that have not returned, as the LBR's call-stack mode has them (SDM, "Filtering of last
 * branch records": EN_CALLSTACK): a near call is pushed, but for one to the next instruction, and a
 * near return takes the newest one away, whichever function it leaves. So longjmp leaves calls
 * behind, there as here. Of user space: calls of the kernel are not among them.
 */
#ifndef PTC_DECODE_LIVE_H
#define PTC_DECODE_LIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "decode/align.h"

enum { PTC_LIVE_MAX = 1024 }; /* kept at least, more than a stack can have entries */

/* Starts zeroed. */
struct ptc_live {
	struct ptc_step *calls; /* owned; the oldest first; all WANTED and END, or a gap, which is
				   the first */
	size_t n, cap;
	bool cut; /* there were older ones */
};

void ptc_live_release(struct ptc_live *l);

/* What step @s, a transfer or a gap, makes of it. *@ret_changed, if not NULL. False: out of memory.
 */
bool ptc_live_step(struct ptc_live *l, const struct ptc_step *s, bool *ret_changed);

/* *@to as @from. False: out of memory. */
bool ptc_live_copy(struct ptc_live *to, const struct ptc_live *from);

#endif
