/* SPDX-License-Identifier: MIT */
/* Collects what the trace shows of a thread up to its end: last branches, calls, stack. */
#ifndef PTC_DECODE_CRASH_CRASH_FLOW_H
#define PTC_DECODE_CRASH_CRASH_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/calls.h"
#include "ptcap/crash_report.h"
#include "ptcap/decode.h"

struct ptc_flow_frame {
	uint64_t ip;  /* where the function was entered */
	uint64_t ret; /* if has_ret: return address, or the interrupted address, which may be 0 */
	bool has_ret;
	bool interrupts; /* ret is the interrupted address */
	/*
	 * An unwinder or longjmp went on here. The trace does not tell which one of several calls
	 * of the function this is.
	 */
	bool landed;
	enum ptc_call_how how;
};

enum { PTC_FLOW_RETS = 16 };

/* Where an exception was thrown. */
struct ptc_flow_throw {
	/*
	 * Of the function that throws, which may be of a program that exec replaced. 0: no
	 * exception was thrown.
	 */
	uint64_t ip;
	/* return addresses of this function and of its callers, innermost first */
	uint64_t rets[PTC_FLOW_RETS];
	size_t n;
};

struct ptc_crash_flow {
	/* set by the caller */
	struct ptc_decode *d;
	int32_t tid;
	uint64_t until_ns; /* later items are of another thread with that ID */
	size_t max_branches, max_calls;

	/* Ring buffers: the newest item is in front of next. n is below max until they are full. */
	struct ptc_item *branches;   /* owned; branches and gaps */
	struct ptc_flow_call *calls; /* owned */
	size_t nbranches, next_branch, ncalls, next_call;
	uint64_t seen; /* branches in total */

	struct ptc_flow_frame *frames; /* owned; outermost first */
	size_t n, cap;
	bool cut; /* the outermost frames are missing, because there were too many */
	/*
	 * The branch or gap that led to the thread's last place. An interrupt that returned to the
	 * same place does not count: a fault may still be pending there.
	 */
	struct ptc_item arrival;
	/*
	 * If arrival was a return to an address that no known call came from: the number of frames
	 * before that return. frames still has them, except the first one, which is strayed_first.
	 */
	size_t strayed_n;
	struct ptc_flow_frame strayed_first;

	struct ptc_flow_throw thrown; /* the last one */

	/* Private members. */
	struct ptc_flow_entry *entries; /* owned; a cache of functions that were entered */
	struct ptc_calls *tracker;	/* owned */
	uint64_t out_ip;		/* where the thread was when its trace last went off */
	bool interrupted;		/* the trace is off, and the program did not cause it */
	uint32_t queue;			/* queue of its last branch */
	bool no_memory;
};

/* Run the decoder d, which was opened with opts.bytes. */
int ptc_crash_flow_run(struct ptc_crash_flow *f, struct ptc_err *err);
void ptc_crash_flow_release(struct ptc_crash_flow *f);

/* Returns true if the function with this name, which may be NULL, throws a C++ exception. */
bool ptc_crash_flow_is_throw(const char *function);

/* Return item @i; the oldest has 0. */
const struct ptc_item *ptc_crash_flow_branch(const struct ptc_crash_flow *f, size_t i);
const struct ptc_flow_call *ptc_crash_flow_call(const struct ptc_crash_flow *f, size_t i);

#endif
