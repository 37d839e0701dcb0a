/* SPDX-License-Identifier: MIT */
/* The output of joined shards (part_join.h): what the command writes without --shard. */
#ifndef PTC_CLI_SUM_JOINED_OUTPUT_H
#define PTC_CLI_SUM_JOINED_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/calls/call_tree.h"
#include "cli/report/report.h"
#include "cli/sum/joined_costs.h"
#include "cli/sum/missing_table.h"
#include "cli/sum/part_join.h"
#include "cli/sum/sum.h"

struct ptc_joined_kind;

/* Initialize with ptc_joined_output_init. */
struct ptc_joined_output {
	const struct ptc_joined_kind *kind; /* NULL: nothing needs a release */
	struct ptc_part_join *join;	    /* borrowed */
	struct ptc_call_tree tree;	    /* folded, pprof */
	bool by_time;
	struct ptc_report_args args; /* report */
	struct ptc_report report;
	struct ptc_joined_costs costs; /* callgrind */
};

/*
 * Prepares the output @of ("folded", ...) with the options of the head @l. *@ret_sink: for the
 * joining. @o must not move.
 */
int ptc_joined_output_init(struct ptc_joined_output *o, const char *of, const json_t *options,
			   struct ptc_part_join *join, struct ptc_join_sink *ret_sink,
			   const struct ptc_sum_line *l, struct ptc_err *err);

/* Takes a line of the part that is not of the calls. */
int ptc_joined_output_line(struct ptc_joined_output *o, const struct ptc_sum_line *l,
			   struct ptc_err *err);

/* Prints the output, once. Returns false if out of memory. */
bool ptc_joined_output_print(struct ptc_joined_output *o, const struct ptc_sum_how *how,
			     struct ptc_missing_table *missing);

void ptc_joined_output_release(struct ptc_joined_output *o);

#endif
