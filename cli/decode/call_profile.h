/* SPDX-License-Identifier: MIT */
/* Profiles from calls for other tools: `ptcap decode --format=callgrind` and others. */
#ifndef PTC_CLI_DECODE_CALL_PROFILE_H
#define PTC_CLI_DECODE_CALL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/calls/call_tree.h"
#include "cli/calls/part_costs.h"
#include "cli/calls/part_out.h"
#include "cli/decode/line_buffer.h"
#include "cli/decode/out_callgrind.h"
#include "cli/decode/out_pprof.h"

enum ptc_call_profile_kind {
	PTC_CALL_PROFILE_NONE,
	PTC_CALL_PROFILE_CALLGRIND,
	PTC_CALL_PROFILE_FOLDED,
	PTC_CALL_PROFILE_PPROF,
	PTC_CALL_PROFILE_COUNT,
};

/* Initialize with zeros, except kind, depth, by_time and shard. */
struct ptc_call_profile {
	enum ptc_call_profile_kind kind;
	uint64_t depth; /* functions in a stack, up to PTC_TREE_DEPTH_MAX; 0: the default */
	bool by_time;	/* folded: ns instead of instructions */
	struct ptc_shard_choice shard; /* n 0: all of the trace */
	bool refused;		       /* an error was reported */
	bool failed;		       /* out of memory */
	struct ptc_callgrind callgrind;
	/* All other kinds: */
	struct ptc_call_stream stream;
	struct ptc_call_tree tree;
	struct ptc_function_begins begins; /* pprof */
	struct ptc_part_out part;	   /* of a shard, in place of the others */
	struct ptc_part_costs part_costs;  /* of a shard, callgrind */
};

/* Returns the kind with this name of --format; NONE: there is no such kind. */
enum ptc_call_profile_kind ptc_call_profile_parse(const char *name);

/*
 * Prepare a profile of @d, which is decoded with opts.lengths and opts.icount. *ret: the sink for
 * all items. A shard is printed to @l. @p must not move. Returns false if out of memory.
 */
bool ptc_call_profile_begin(struct ptc_call_profile *p, struct ptc_decode *d, struct ptc_line *l,
			    struct ptc_sink *ret);

/* Take items in front of the shard. Returns false if out of memory. */
bool ptc_call_profile_before(struct ptc_call_profile *p, const struct ptc_item *items, size_t n);

/*
 * Print the profile, once, after all items. If it is too large, reports an error and sets refused.
 * Returns false if out of memory.
 */
bool ptc_call_profile_print(struct ptc_call_profile *p, struct ptc_line *l);

void ptc_call_profile_release(struct ptc_call_profile *p);

#endif
