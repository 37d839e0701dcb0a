/* SPDX-License-Identifier: MIT */
/*
 * Injects errors into branch stacks, of kinds that hardware is known to make. Tests of error
 * detection use them.
 */
#ifndef PTC_CAPTURE_SOFT_LBR_FAULT_INJECTION_H
#define PTC_CAPTURE_SOFT_LBR_FAULT_INJECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/capture.h"
#include "ptcap/sample.h"

enum { PTC_SPOIL_STALE = 3 }; /* number of entries from another thread */

/* An entry with an injected error: its position and its original value. */
struct ptc_spoilt {
	uint32_t index; /* 0 is the newest */
	uint64_t from, to;
};

struct ptc_spoiler {
	struct ptc_lbr_spoil opts;
	uint64_t state; /* state of the random number generator */
};

void ptc_spoiler_init(struct ptc_spoiler *s, const struct ptc_lbr_spoil *opts);

/*
 * Injects errors into the stack @e of *@n entries, newest first. Leaves it unchanged if it is not
 * this stack's turn, if it is too short, or if the error would change nothing. @other: a stack of
 * another thread, of @nother entries. A stack never grows. Returns the number of entries in @ret.
 */
size_t ptc_spoiler_take(struct ptc_spoiler *s, struct ptc_branch *e, uint32_t *n,
			const struct ptc_branch *other, uint32_t nother,
			struct ptc_spoilt ret[PTC_LBR_SHIFT_MAX]);

#endif
