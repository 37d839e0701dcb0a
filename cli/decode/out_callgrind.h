/* SPDX-License-Identifier: MIT */
/*
 * `ptcap decode --format=callgrind`: a profile for callgrind_annotate and KCachegrind. Instructions
 * of each source line, and calls with what they cost. doc/format.md has the source of the format.
 */
#ifndef PTC_CLI_DECODE_OUT_CALLGRIND_H
#define PTC_CLI_DECODE_OUT_CALLGRIND_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/calls/call_costs.h"
#include "cli/calls/call_stream.h"
#include "cli/calls/line_costs.h"
#include "cli/decode/line_buffer.h"

/* What a profile is printed from. */
struct ptc_callgrind_sums {
	const struct ptc_call_stream *stream;
	struct ptc_line_costs *lines; /* after ptc_line_costs_count; become sorted */
	struct ptc_call_costs *calls; /* become sorted */
	const char *command;	      /* see ptc_callgrind_command; NULL: not known */
	bool has_time;		      /* the times are a measure of the program */
};

struct ptc_callgrind {
	struct ptc_call_stream stream;
	struct ptc_line_costs lines;
	struct ptc_call_costs calls;
	bool failed; /* out of memory */
};

/* Initialize @c, which must not move. Returns false if out of memory. */
bool ptc_callgrind_init(struct ptc_callgrind *c, struct ptc_decode *d);
/* @c may be zeroed instead of initialized. */
void ptc_callgrind_release(struct ptc_callgrind *c);

/* ptc_sink.on_items; ctx is a struct ptc_callgrind. */
int ptc_callgrind_items(void *ctx, const struct ptc_item *items, size_t n);

/* Returns whether the times of @d are a measure of the program. */
bool ptc_callgrind_has_time(struct ptc_decode *d);

/*
 * Get the recorded command, each word behind a blank. *@ret: owned by the caller; NULL: not known.
 * Returns false if out of memory.
 */
bool ptc_callgrind_command(const struct ptc_decode *d, char **ret);

/*
 * Print @s, once. The order depends on names only, so the output is the same for any number of jobs
 * and shards. Returns false if out of memory.
 */
bool ptc_callgrind_print_sums(const struct ptc_callgrind_sums *s, struct ptc_line *l);

/* Print the profile, once, after all items. Returns false if out of memory. */
bool ptc_callgrind_print(struct ptc_callgrind *c, struct ptc_line *l);

#endif
