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

struct ptc_callgrind {
	struct ptc_call_stream stream;
	struct ptc_line_costs lines;
	struct ptc_call_costs calls;
	bool has_time; /* the times are a measure of the program */
	bool failed;   /* out of memory */
};

/* Initialize @c, which must not move. Returns false if out of memory. */
bool ptc_callgrind_init(struct ptc_callgrind *c, struct ptc_decode *d);
/* @c may be zeroed instead of initialized. */
void ptc_callgrind_release(struct ptc_callgrind *c);

/* ptc_sink.on_items; ctx is a struct ptc_callgrind. */
int ptc_callgrind_items(void *ctx, const struct ptc_item *items, size_t n);

/* Print the profile, once, after all items. Returns false if out of memory. */
bool ptc_callgrind_print(struct ptc_callgrind *c, struct ptc_line *l);

#endif
