/* SPDX-License-Identifier: MIT */
/* The costs of calls and lines of all shards (cli/calls/part_costs.h), as a callgrind profile. */
#ifndef PTC_CLI_SUM_JOINED_COSTS_H
#define PTC_CLI_SUM_JOINED_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/calls/call_costs.h"
#include "cli/calls/line_costs.h"
#include "cli/sum/part_join.h"

struct ptc_joined_costs {
	struct ptc_part_join *join; /* borrowed */
	struct ptc_call_costs calls;
	struct ptc_line_costs lines;
	const char *command; /* borrowed from the options; NULL: not known */
	bool has_time;
};

/* Prepares @c for the stream of @join, with the options of the head @l. */
int ptc_joined_costs_init(struct ptc_joined_costs *c, struct ptc_part_join *join,
			  const json_t *options, const struct ptc_sum_line *l, struct ptc_err *err);
void ptc_joined_costs_release(struct ptc_joined_costs *c);

/* As the members of struct ptc_join_sink; @c in place of ctx. */
int ptc_joined_costs_event(struct ptc_joined_costs *c, const struct ptc_call_event *e);
int ptc_joined_costs_step(struct ptc_joined_costs *c, const struct ptc_sum_line *l, uint32_t thread,
			  uint64_t before, struct ptc_err *err);

/* Takes a line with sums of the part. */
int ptc_joined_costs_line(struct ptc_joined_costs *c, const struct ptc_sum_line *l,
			  struct ptc_err *err);

/* Prints the profile, once. Returns false if out of memory. */
bool ptc_joined_costs_print(struct ptc_joined_costs *c, struct ptc_line *l);

#endif
