/* SPDX-License-Identifier: MIT */
/*
 * Branch stacks that are wrong in ways that hardware is known for, on purpose: what finds
 * them is tested with these.
 */
#ifndef PTC_CAPTURE_SOFT_SPOIL_H
#define PTC_CAPTURE_SOFT_SPOIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/capture.h"
#include "ptcap/sample.h"

enum { PTC_SPOIL_STALE = 3 }; /* entries that are another thread's */

/* An entry that was spoilt: where it was, and what. */
struct ptc_spoilt {
	uint32_t index; /* 0 is the newest */
	uint64_t from, to;
};

struct ptc_spoiler {
	struct ptc_lbr_spoil opts;
	uint64_t state; /* of the random numbers */
};

void ptc_spoiler_init(struct ptc_spoiler *s, const struct ptc_lbr_spoil *opts);

/*
 * Spoil the stack @e of *@n entries, newest first, or leave it as it is: it is not its turn, it is
 * too short, or what would be done to it changes nothing. @other: a stack of another thread, of
 * @nother entries. A stack never gets longer. Returns how many entries are in @ret.
 */
size_t ptc_spoiler_take(struct ptc_spoiler *s, struct ptc_branch *e, uint32_t *n,
			const struct ptc_branch *other, uint32_t nother,
			struct ptc_spoilt ret[PTC_LBR_SHIFT_MAX]);

#endif
