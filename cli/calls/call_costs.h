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

/* A function that runs. */
struct ptc_cost_frame {
	uint32_t function, depth;
	uint32_t tails; /* frames before this one of the same depth */
	uint32_t call;	/* index in calls; PTC_NO_NUMBER: nobody called */
	uint64_t since_insns, since_time;
};

struct ptc_cost_thread {
	struct ptc_cost_frame *frames; /* owned; the innermost last */
	size_t n, cap;
	uint64_t last_time; /* of its last event */
	bool jumped;	    /* the innermost frame has ended with a tail call */
	/* In a part, since its last step: */
	bool has_events;
	uint64_t first_time; /* of the first event */
	uint64_t root_ns;    /* own time of the root */
	uint32_t *roots;     /* owned; indexes in calls, by the root */
	size_t nroots, roots_cap;
};

/*
 * In a part of a trace (ptcap/part_calls.h) the outermost frame of a thread is the root: it stands
 * for the innermost function that is unknown. Numbers from PTC_COST_ROOTS on are roots.
 */
#define PTC_COST_ROOTS (UINT32_C(1) << 31)

struct ptc_call_costs {
	struct ptc_call_stream *stream; /* borrowed */
	bool of_part;			/* set by the caller, before the first event */
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

/* Returns the address in the caller of a call that began. 0: it is not known. */
uint64_t ptc_call_cost_address(const struct ptc_call *call);

/* Returns thread @number, which may be new. NULL: out of memory. */
struct ptc_cost_thread *ptc_call_costs_thread(struct ptc_call_costs *c, uint32_t number);

/* A step in thread @number of a part: forget its frames, and the calls by its root. */
void ptc_call_costs_step(struct ptc_call_costs *c, uint32_t number);

/* Joins parts: note that @function was entered, which begins at @begin. Returns false if out of
 * memory. */
bool ptc_call_costs_enter(struct ptc_call_costs *c, uint32_t function,
			  struct ptc_source_line begin);

/* Joins parts: add calls. Returns their index. PTC_NO_NUMBER: out of memory. */
uint32_t ptc_call_costs_add(struct ptc_call_costs *c, const struct ptc_call_cost *calls);

/*
 * Joins parts: add the time of thread @t between two steps. The innermost frame was the root, whose
 * own time was @root_ns.
 */
void ptc_call_costs_pass(struct ptc_call_costs *c, struct ptc_cost_thread *t, uint64_t first_time,
			 uint64_t last_time, uint64_t root_ns);

/* Joins parts: push a frame whose call is counted. Returns false if out of memory. */
bool ptc_call_costs_open(struct ptc_cost_thread *t, const struct ptc_cost_frame *frame);

/* Sort by caller, source line and callee, once, after all events. @order: of the stream. */
void ptc_call_costs_sort(struct ptc_call_costs *c, const struct ptc_function_order *order);

#endif
