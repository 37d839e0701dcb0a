/* SPDX-License-Identifier: MIT */
/* `ptcap decode --calls`: the call tree, indented. */
#ifndef PTC_CLI_DECODE_OUT_CALLS_H
#define PTC_CLI_DECODE_OUT_CALLS_H

#include "cli/common/code_parts.h"
#include "cli/common/string_pool.h"
#include "cli/decode/call_fold.h"
#include "cli/decode/call_lines.h"
#include "cli/decode/call_view.h"
#include "ptcap/calls.h"

/* How to print calls. */
struct ptc_calls_form {
	bool json;
	bool inlines;  /* also show inlined functions */
	bool mangled;  /* names are as the linker has them */
	bool by_insns; /* measure in instructions, not in time */
	size_t width;  /* columns of the terminal; 0: print whole names */
	struct ptc_calls_choice choice;
};

struct ptc_calls_printer {
	struct ptc_calls_form form;
	struct ptc_decode *d;
	struct ptc_calls *calls;	  /* owned */
	struct ptc_inline_calls *inlines; /* owned; NULL: inlined functions are not shown */
	struct ptc_names names;		  /* as they are printed */
	struct ptc_name_seen *seen;	  /* owned; functions of addresses, the most recent ones */
	struct ptc_code_parts code;
	char *plain; /* owned; choice.sym demangled; NULL: not mangled */
	bool failed; /* out of memory */
	/* The calls go from the first one that is needed to the next. */
	struct ptc_call_view view;
	struct ptc_call_fold fold;
	struct ptc_call_lines lines;
	struct ptc_shown_sink sink; /* the first receiver of calls */
};

/* @d and @line are borrowed. Returns 0 or PTC_E_NO_MEMORY. */
int ptc_calls_printer_init(struct ptc_calls_printer *p, struct ptc_decode *d, struct ptc_line *line,
			   const struct ptc_calls_form *form);
/*
 * Print the lines that are kept for --fold and --min, and release @p. p->failed: lines are missing,
 * out of memory.
 */
void ptc_calls_printer_finish(struct ptc_calls_printer *p);

/* ptc_sink.on_items; ctx is a struct ptc_calls_printer. The decoder must have opts.lengths. */
int ptc_print_calls(void *ctx, const struct ptc_item *items, size_t n);

#endif
