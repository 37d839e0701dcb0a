/* SPDX-License-Identifier: MIT */
/*
 * What the calls and lines of a shard cost, for `ptcap sum` of callgrind profiles. A call that
 * began and ended between two steps (ptcap/part_calls.h) is summed in the shard. A step has the
 * frames that are open, and the calls by code without a symbol in a function that is unknown.
 */
#ifndef PTC_CLI_CALLS_PART_COSTS_H
#define PTC_CLI_CALLS_PART_COSTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_costs.h"
#include "cli/calls/line_costs.h"
#include "cli/calls/part_out.h"

/* The numbers in the part of source files. */
struct ptc_part_sources {
	uint32_t *v; /* owned; by the number of the name; 0: not printed */
	size_t n, cap;
};

/* Initialize with zeros. */
struct ptc_part_costs {
	struct ptc_call_costs calls;
	/* The functions of lines. Others, which calls have, are in the stream of the part. */
	struct ptc_call_stream stream;
	struct ptc_line_costs lines;
	struct ptc_part_sources of_calls, of_lines;
	uint32_t nsources; /* printed ones */
};

/* Prepare @c for the part @o, which has begun. Returns false if out of memory. */
bool ptc_part_costs_begin(struct ptc_part_costs *c, struct ptc_part_out *o);
/* @c may be zeroed. */
void ptc_part_costs_release(struct ptc_part_costs *c);

/* Add an event of the part, with the index of its thread in the part. Returns 0 or PTC_E_NO_MEMORY.
 */
int ptc_part_costs_event(struct ptc_part_costs *c, size_t thread, const struct ptc_call_event *e);

/* Add the lines of items, after ptc_part_out_items had them. Returns non-zero if out of memory. */
int ptc_part_costs_items(struct ptc_part_costs *c, const struct ptc_item *items, size_t n);

/* Take items in front of the part. Returns false if out of memory. */
bool ptc_part_costs_before(struct ptc_part_costs *c, const struct ptc_item *items, size_t n);

/* Add the members of a step in this thread of the part. Returns false if out of memory. */
bool ptc_part_costs_step(struct ptc_part_costs *c, struct ptc_part_out *o, size_t thread,
			 json_t *step);

/*
 * Returns the function and the source line of the address of branch @it, and of the address behind
 * it if the branch leaves the trace. NULL: out of memory.
 */
json_t *ptc_part_costs_places(struct ptc_part_costs *c, struct ptc_part_out *o,
			      const struct ptc_item *it);

/* Print all sums, after ptc_part_out_steps. Returns false if out of memory. */
bool ptc_part_costs_end(struct ptc_part_costs *c, struct ptc_part_out *o);

#endif
