/* SPDX-License-Identifier: MIT */
/* The lines of `ptcap decode --calls`: text, or JSON objects. */
#ifndef PTC_CLI_DECODE_CALL_LINES_H
#define PTC_CLI_DECODE_CALL_LINES_H

#include "cli/decode/line_buffer.h"
#include "cli/decode/shown_call.h"

struct ptc_call_lines {
	struct ptc_line *line; /* borrowed */
	bool json;
	bool by_insns; /* measure in instructions, not in time */
	size_t width;  /* columns of the terminal; 0: print whole names */
	/* Text: the last ENTER, until it is known whether it contains calls. */
	bool pending;
	struct ptc_shown_call held;
};

/* ptc_shown_sink.on_call; ctx is a struct ptc_call_lines. Stops when standard output failed. */
int ptc_print_call_line(void *ctx, const struct ptc_shown_call *call);

/* Print the line that is held back. */
void ptc_call_lines_finish(struct ptc_call_lines *p);

#endif
