/* SPDX-License-Identifier: MIT */
/*
 * `ptcap decode --format=folded`: a line for each stack of functions, for FlameGraph, speedscope
 * and other tools: "program-12;main;f 34".
 */
#ifndef PTC_CLI_DECODE_OUT_FOLDED_H
#define PTC_CLI_DECODE_OUT_FOLDED_H

#include <stdbool.h>

#include "cli/calls/call_stream.h"
#include "cli/calls/call_tree.h"
#include "cli/decode/line_buffer.h"

/*
 * Print the stacks with their own instructions, or @by_time with their own ns. Stacks with 0 are
 * left out. Returns false if out of memory.
 */
bool ptc_folded_print(struct ptc_call_stream *s, const struct ptc_call_tree *t, bool by_time,
		      struct ptc_line *l);

/* The stacks one by one. Their path has a node for the thread, and then one for each function. */
struct ptc_folding {
	struct ptc_call_stream *s;
	const struct ptc_call_tree *t;
	bool by_time;
	struct ptc_line *l;
	uint32_t *path; /* owned */
	uint32_t at;	/* the next node */
};

/* All arguments are borrowed. Returns false if out of memory. */
bool ptc_folding_init(struct ptc_folding *f, struct ptc_call_stream *s,
		      const struct ptc_call_tree *t, bool by_time, struct ptc_line *l);

/* Prints the text of the next stack, without its value. Returns false, without a text, at the end.
 */
bool ptc_folding_next(struct ptc_folding *f, uint64_t *ret_value);
void ptc_folding_release(struct ptc_folding *f);

#endif
