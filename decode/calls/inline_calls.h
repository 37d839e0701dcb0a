/* SPDX-License-Identifier: MIT */
/*
 * Adds inlined functions to the calls and returns of calls.h. A call has an address, and the debug
 * information tells which functions the compiler has inlined there. These functions become frames
 * around the called function, as in a backtrace.
 *
 * An inlined function without calls makes no branch that marks its begin, so it gets no frame.
 * Consecutive calls from one inlined function belong to one frame, even if a loop ran the inlined
 * function again.
 */
#ifndef PTC_DECODE_CALLS_INLINE_CALLS_H
#define PTC_DECODE_CALLS_INLINE_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "decode/calls/calls.h"
#include "decode/symbols/inline_frames.h"

struct ptc_inline_calls_opts {
	/* ptc_decode_inlines */
	size_t (*inlines)(void *ctx, const struct ptc_item *item, uint64_t ip,
			  struct ptc_inline_frame frames[PTC_INLINE_MAX]);
	/*
	 * Gets the calls that were added, and those with BY_INLINING. All depths count inlined
	 * functions. Returns non-zero to stop.
	 */
	int (*on_call)(void *ctx, const struct ptc_call *call);
	void *ctx;
};

struct ptc_inline_calls;

/* Returns NULL if out of memory. Caller frees. */
struct ptc_inline_calls *ptc_inline_calls_new(const struct ptc_inline_calls_opts *opts);
void ptc_inline_calls_free(struct ptc_inline_calls *c);

/*
 * Add the next call of one struct ptc_calls. Returns 0, the non-zero result of on_call, or
 * PTC_E_NO_MEMORY.
 */
int ptc_inline_calls_add(struct ptc_inline_calls *c, const struct ptc_call *call);

#endif
