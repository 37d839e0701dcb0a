/* SPDX-License-Identifier: MIT */
/*
 * `ptcap decode --format=pprof`: the stacks as a profile of pprof (profile.proto, compressed by
 * gzip), with instructions and, if the times are a measure, time.
 */
#ifndef PTC_CLI_DECODE_OUT_PPROF_H
#define PTC_CLI_DECODE_OUT_PPROF_H

#include <stdbool.h>

#include "cli/calls/call_stream.h"
#include "cli/calls/call_tree.h"
#include "cli/calls/line_costs.h"
#include "cli/decode/line_buffer.h"

/* Where the functions of a stream begin, by their numbers. */
struct ptc_function_begins {
	struct ptc_source_line *v; /* owned; file 0: not known */
	size_t n, cap;
};

/*
 * Look up the begin of the function that @e enters, if it is new. To be called inside on_event.
 * Returns false if out of memory.
 */
bool ptc_function_begins_event(struct ptc_function_begins *b, struct ptc_call_stream *s,
			       const struct ptc_call_event *e);

/* Print the profile. Returns false if out of memory. */
bool ptc_pprof_print(struct ptc_call_stream *s, const struct ptc_call_tree *t,
		     const struct ptc_function_begins *begins, bool by_time, struct ptc_line *l);

/* Returns whether the times of the trace are a measure of the program. */
bool ptc_pprof_has_time(const struct ptc_decode *d);

#endif
