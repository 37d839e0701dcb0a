/* SPDX-License-Identifier: MIT */
/*
 * Joins the calls of all shards of a recording (cli/calls/part_out.h) to those of the whole. The
 * machine of decode takes the steps. So there is one rule for the end of a function, and the calls
 * that were open at a border end as in the whole.
 */
#ifndef PTC_CLI_SUM_PART_JOIN_H
#define PTC_CLI_SUM_PART_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "cli/calls/call_stream.h"
#include "cli/calls/line_costs.h"
#include "cli/calls/part_tree.h"
#include "cli/sum/joined_places.h"
#include "cli/sum/sum_line.h"

/* Who takes the joined calls. All return 0, PTC_E_NO_MEMORY, or PTC_E_LIMIT. */
struct ptc_join_sink {
	/* An entry or an end that is in no tree, or a gap. */
	int (*on_event)(void *ctx, const struct ptc_call_event *e);
	int (*on_tree)(void *ctx, const struct ptc_joined_tree *tree);
	/* A call of a tree stays open. The outermost comes first. */
	int (*on_open)(void *ctx, uint32_t thread, uint32_t function, const uint64_t *since);
	/*
	 * In place of on_tree and on_open: the calls of step @l in thread @thread, whose part has
	 * @before instructions of the thread in front. Sets @err on failure.
	 */
	int (*on_costs)(void *ctx, const struct ptc_sum_line *l, uint32_t thread, uint64_t before,
			struct ptc_err *err);
	void *ctx;
};

struct ptc_part_join {
	struct ptc_join_sink sink;
	struct ptc_call_stream stream;
	struct ptc_source_line *begins; /* owned; of functions, by the stream's numbers */
	size_t nbegins, begins_cap;
	uint64_t insns;	  /* instructions of all parts */
	uint64_t unclear; /* assumptions of parts that are not true */
	/* Of the part that is being joined: */
	uint64_t part;
	struct ptc_joined_function *functions; /* owned */
	size_t nfunctions, functions_cap;
	struct ptc_part_node *nodes; /* owned; of the next step */
	size_t nnodes, nodes_cap;
	struct ptc_joined_sources sources;
	uint64_t nlines;
	bool ended;
	/* Of all parts: */
	struct ptc_joined_thread *threads; /* owned; in the order of tids */
	size_t threads_cap;
	struct ptc_idmap tids;
	struct ptc_joined_places places;
	const struct ptc_joined_item *item; /* the machine has this item */
};

/* @j must not move. Returns 0 or PTC_E_NO_MEMORY. */
int ptc_part_join_init(struct ptc_part_join *j, const struct ptc_join_sink *sink);
void ptc_part_join_release(struct ptc_part_join *j);

/* Begin the next part. */
void ptc_part_join_begin(struct ptc_part_join *j);

/*
 * Takes a line behind the head. *@ret_other: the line is not of the calls, for the caller. Lines of
 * the caller count, too.
 */
int ptc_part_join_line(struct ptc_part_join *j, const struct ptc_sum_line *l, bool *ret_other,
		       struct ptc_err *err);

/* Gets the number in the stream of the function that a line names by "function". */
int ptc_part_join_function(struct ptc_part_join *j, const struct ptc_sum_line *l, uint32_t *ret,
			   struct ptc_err *err);

/* Returns the number in the stream of function @i of the part. PTC_NO_NUMBER: out of memory. */
uint32_t ptc_part_join_number(struct ptc_part_join *j, uint64_t i);

/* Ends all open functions, behind the last part. Returns 0, PTC_E_NO_MEMORY or PTC_E_LIMIT. */
int ptc_part_join_finish(struct ptc_part_join *j);

#endif
