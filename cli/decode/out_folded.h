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

#endif
