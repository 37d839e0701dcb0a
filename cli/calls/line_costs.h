/* SPDX-License-Identifier: MIT */
/*
 * The instructions that each function and each source line executed itself, without the functions
 * that it called. The sum over all lines is the number of instructions of the trace.
 */
#ifndef PTC_CLI_CALLS_LINE_COSTS_H
#define PTC_CLI_CALLS_LINE_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/calls/call_stream.h"
#include "cli/calls/function_order.h"
#include "cli/common/number_index.h"
#include "cli/decode/branch_counts.h"

struct ptc_line_cost {
	uint32_t function; /* number in the stream */
	struct ptc_source_line at;
	uint64_t insns;
};

struct ptc_line_costs {
	struct ptc_call_stream *stream; /* borrowed */
	struct ptc_counts blocks;
	struct ptc_block_part *parts; /* owned; each block has consecutive ones */
	size_t nparts, parts_cap;
	struct ptc_line_cost *costs; /* owned */
	size_t n, cap;
	struct ptc_number_index index; /* of costs */
};

/* Initialize @c for the functions of @s, which must outlive it. */
void ptc_line_costs_init(struct ptc_line_costs *c, struct ptc_call_stream *s);
void ptc_line_costs_release(struct ptc_line_costs *c);

/*
 * Add the items of a batch, after ptc_call_stream_items had them. Returns non-zero if out of
 * memory.
 */
int ptc_line_costs_items(struct ptc_line_costs *c, const struct ptc_item *items, size_t n);

/* Add @cost to the costs. Returns false if out of memory. */
bool ptc_line_costs_add(struct ptc_line_costs *c, const struct ptc_line_cost *cost);

/* Compute the instructions of the costs, once, after all items. */
void ptc_line_costs_count(struct ptc_line_costs *c);

/*
 * Sort the costs by function, file and line, once, after ptc_line_costs_count. Code without a
 * symbol belongs to the nearest function before it that was entered. @entered: for each function of
 * the stream; grows with the functions until then. @order: of the stream. Returns false if out of
 * memory.
 */
bool ptc_line_costs_settle(struct ptc_line_costs *c, const bool *entered, size_t nentered,
			   const struct ptc_function_order *order);

/*
 * Returns where the function that contains @ip begins; otherwise as ptc_source_line_of. Code
 * without a symbol begins at @ip.
 */
struct ptc_source_line ptc_function_begin(struct ptc_call_stream *s, const struct ptc_item *it,
					  uint64_t ip);

/*
 * Returns the source line of @ip in the process of @it. Both numbers are 0 if it is not known.
 * file UINT32_MAX: out of memory. To be called inside on_items.
 */
struct ptc_source_line ptc_source_line_of(struct ptc_call_stream *s, const struct ptc_item *it,
					  uint64_t ip);

#endif
