/* SPDX-License-Identifier: MIT */
/*
 * Places of calls on an axis in ns, for tools that draw calls by time. A recording by a software
 * source has no times that measure the program. So its axis is of instructions: each lasts 1 ns,
 * and a thread begins at the greatest place of the threads before it.
 */
#ifndef PTC_CLI_CALLS_CALL_AXIS_H
#define PTC_CLI_CALLS_CALL_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"

/* Initialize with ptc_call_axis_init. */
struct ptc_call_axis {
	bool by_insns;
	uint64_t latest; /* the greatest place so far */
	struct {
		uint64_t zero; /* the place of instruction 0; may be negative (two's complement) */
		uint64_t last; /* the last place */
	} * threads;	       /* owned; by the thread numbers of the call stream */
	size_t n, cap;
};

/* @by_insns: count instructions (with opts.icount). Otherwise use the times of the items. */
void ptc_call_axis_init(struct ptc_call_axis *x, const struct ptc_decode *d, bool by_insns);
void ptc_call_axis_release(struct ptc_call_axis *x);

/*
 * Gets the place of @event, which belongs to a thread, and is never 0. The places of a tid never
 * decrease. Without a time, an event has the last place of its thread. Returns false if out of
 * memory.
 */
bool ptc_call_axis_place(struct ptc_call_axis *x, const struct ptc_call_event *event,
			 uint64_t *ret_ns);

#endif
