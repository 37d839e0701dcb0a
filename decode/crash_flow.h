/* SPDX-License-Identifier: MIT */
/* What the trace says of a thread up to its end: its last branches, its calls, its stack. */
#ifndef PTC_DECODE_CRASH_FLOW_H
#define PTC_DECODE_CRASH_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/calls.h"
#include "ptcap/decode.h"

struct ptc_flow_frame {
	uint64_t ip;  /* where the function was entered */
	uint64_t ret; /* if has_ret: where it returns to, or what a signal interrupted, which may be
			 at address 0 */
	bool has_ret;
	enum ptc_call_how how;
};

struct ptc_flow_call {
	enum ptc_call_type type;
	enum ptc_call_how how;
	uint32_t depth;
	uint64_t ip;
};

struct ptc_crash_flow {
	/* set by the caller */
	struct ptc_decode *d;
	int32_t tid;
	uint64_t until_ns; /* what is later is another thread of that number */
	size_t max_branches, max_calls;

	/* Rings: the newest is in front of next; n is below max until they are full. */
	struct ptc_item *branches;   /* owned; transfers and gaps */
	struct ptc_flow_call *calls; /* owned */
	size_t nbranches, next_branch, ncalls, next_call;
	uint64_t seen; /* transfers in all */

	struct ptc_flow_frame *frames; /* owned; the outermost first */
	size_t n, cap;
	bool cut; /* there were more, too many to be kept: the outermost are missing */
	/*
	 * How it came to where it was last, a transfer or a gap. That it was interrupted there,
	 * and went on, is none: a fault may wait for as long.
	 */
	struct ptc_item arrival;
	/*
	 * That was a return, to where nobody was called from: until then there were so many
	 * frames, which are those still, but for the first.
	 */
	size_t strayed_n;
	struct ptc_flow_frame strayed_first;

	/* its own */
	struct ptc_calls *tracker; /* owned */
	uint64_t out_ip;	   /* where it was when its trace was last off */
	bool interrupted;	   /* it is off, and that is not the program's doing */
	uint32_t queue;		   /* where its last transfer was */
	bool no_memory;
};

/* Run the decoder, which was opened with opts.bytes. */
int ptc_crash_flow_run(struct ptc_crash_flow *f, struct ptc_err *err);
void ptc_crash_flow_release(struct ptc_crash_flow *f);

/* The @i-th, the oldest has 0. */
const struct ptc_item *ptc_crash_flow_branch(const struct ptc_crash_flow *f, size_t i);
const struct ptc_flow_call *ptc_crash_flow_call(const struct ptc_crash_flow *f, size_t i);

#endif
