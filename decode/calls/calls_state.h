/* SPDX-License-Identifier: MIT */
/* The state of struct ptc_calls, and its questions that `part_calls` asks, too. */
#ifndef PTC_DECODE_CALLS_CALLS_STATE_H
#define PTC_DECODE_CALLS_CALLS_STATE_H

#include "decode/calls/call_stack.h"
#include "ptcap/calls.h"

struct ptc_calls {
	struct ptc_calls_opts opts;
	struct ptc_call_stacks stacks;
};

enum ptc_unwinder {
	PTC_NO_UNWINDER,
	PTC_UNWINDER, /* begins at the function that throws */
	PTC_RESUMED,  /* _Unwind_Resume: leaves the function that called it */
};

/* Returns the kind of the function at the top of @t, if @it may go on at a landing pad. */
enum ptc_unwinder ptc_calls_unwinder(const struct ptc_calls *c, const struct ptc_call_stack *t,
				     const struct ptc_item *it);

/* Did the kernel return to user space? The thread or the program may be another one. */
bool ptc_calls_comes_back(const struct ptc_item *it);

#endif
