/* SPDX-License-Identifier: MIT */
/* `ptcap decode --calls`: the call tree, indented. */
#ifndef PTC_CLI_DECODE_OUT_CALLS_H
#define PTC_CLI_DECODE_OUT_CALLS_H

#include "cli/decode/line_buffer.h"
#include "decode/calls/calls.h"
#include "decode/calls/inline_calls.h"

struct ptc_calls_printer {
	struct ptc_decode *d;
	struct ptc_line *line;
	struct ptc_calls *calls;	  /* owned */
	struct ptc_inline_calls *inlines; /* owned; NULL: inlined functions are not shown */
	bool json;
	bool by_insns; /* set after init: measure in instructions, not in time */
	/* The last ENTER, until it is known whether it contains calls. */
	bool pending;
	enum ptc_call_how how;
	uint64_t time, insns;
	int32_t tid;
	uint32_t depth;
	size_t width; /* set after init: columns of the terminal; 0: print whole names */
	char name[512];
};

/* @d and @line are borrowed. @shows_inlines: show inlined functions. Returns 0 or PTC_E_NO_MEMORY.
 */
int ptc_calls_printer_init(struct ptc_calls_printer *p, struct ptc_decode *d, struct ptc_line *line,
			   bool json, bool shows_inlines);
/* Print the pending line, and release @p. */
void ptc_calls_printer_finish(struct ptc_calls_printer *p);

/* ptc_sink.on_items; ctx is a struct ptc_calls_printer. The decoder must have opts.bytes. */
int ptc_print_calls(void *ctx, const struct ptc_item *items, size_t n);

#endif
