/* SPDX-License-Identifier: MIT */
/*
 * What the calls of each function cost, with everything that the called functions called: number,
 * instructions and time. A function that jumps to another one (a tail call) calls it, and both end
 * together. So the cost of a function is its own plus the cost of its calls.
 */
#ifndef PTC_CLI_CALLS_CALL_COSTS_H
#define PTC_CLI_CALLS_CALL_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"
#include "cli/calls/function_order.h"
#include "cli/calls/line_costs.h"
#include "cli/common/number_index.h"

/* The calls of a function from a source line. */
struct ptc_call_cost {
	uint32_t caller, callee; /* numbers of functions */
	struct ptc_source_line at;
	uint64_t times, insns, ns;
};

/* The begin and the own time of one function of the stream. */
struct ptc_function_cost {
	bool entered;
	struct ptc_source_line begin; /* of a function that was entered */
	uint64_t ns;		      /* its own time */
};

struct ptc_call_costs {
	struct ptc_call_stream *stream; /* borrowed */
	struct ptc_call_cost *calls;	/* owned */
	size_t n, cap;
	struct ptc_number_index index;	     /* of calls */
	struct ptc_function_cost *functions; /* owned; by the stream's numbers */
	size_t nfunctions, functions_cap;
	struct ptc_cost_thread *threads; /* owned; by the stream's numbers */
	size_t nthreads, threads_cap;
	struct ptc_call_seen *seen; /* owned; calls of addresses, the most recent ones */
};

/* Initialize @c for the calls of @s, which must outlive it. Returns false if out of memory. */
bool ptc_call_costs_init(struct ptc_call_costs *c, struct ptc_call_stream *s);
void ptc_call_costs_release(struct ptc_call_costs *c);

/* Add an event of the stream, inside its on_event. Returns 0 or PTC_E_NO_MEMORY. */
int ptc_call_costs_event(struct ptc_call_costs *c, const struct ptc_call_event *e);

/* Sort by caller, source line and callee, once, after all events. @order: of the stream. */
void ptc_call_costs_sort(struct ptc_call_costs *c, const struct ptc_function_order *order);

#endif
