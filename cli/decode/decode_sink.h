/* SPDX-License-Identifier: MIT */
/* Output of `ptcap decode`: the sink for the selected format. */
#ifndef PTC_CLI_DECODE_DECODE_SINK_H
#define PTC_CLI_DECODE_DECODE_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/arrow/arrow_out.h"
#include "cli/common/selection_args.h"
#include "cli/common/terminal.h"
#include "cli/decode/branch_counts.h"
#include "cli/decode/call_profile.h"
#include "cli/decode/line_buffer.h"
#include "cli/decode/out_bin.h"
#include "cli/decode/out_calls.h"
#include "cli/decode/out_stats.h"
#include "cli/decode/print_threads.h"
#include "cli/decode/profile.h"
#include "cli/timeline/fxt_file.h"
#include "cli/timeline/uftrace_folder.h"
#include "ptcap/decode.h"

struct ptc_decoded_form {
	struct ptc_fields fields;
	bool json, bin, lcov, uftrace, fxt, arrow, insn, calls, stats, color;
	bool inlines; /* show inlined functions */
	bool icount;  /* items have their number of instructions */
	enum ptc_axis axis;
	struct ptc_shard_choice shard;	/* n 0: all of the trace */
	struct ptc_calls_choice choice; /* of calls */
	bool mangled;			/* names are as the linker has them */
	enum ptc_counts_of counts;
	const char *output;    /* name of the output; NULL: standard output */
	const char *recording; /* name of the input, for arrow */
	const char *input;     /* for arrow: what the decode opens; no stream if it has crashes */
	const struct ptc_code_opts *code; /* for arrow: of the decode */
	uint32_t tables;   /* of arrow: bits 1 << enum ptc_arrow_which; 0: the default */
	uint64_t budget;   /* bytes of a file of calls; 0: the default */
	uint64_t most;	   /* number of counts to print; 0: all */
	size_t width;	   /* columns to which names are shortened; 0: print whole names */
	unsigned int jobs; /* number of threads that print */
};

/* Initialize with zeros, except form and totals. */
struct ptc_decoded {
	struct ptc_decoded_form form;
	struct ptc_decode *d; /* borrowed */
	struct ptc_line *line;
	struct ptc_sink inner; /* with a shard: the sink for its own items */
	struct ptc_printer printer;
	struct ptc_print_threads *threads; /* owned; NULL: one thread prints */
	struct ptc_bin_printer bin;
	struct ptc_calls_printer calls;
	struct ptc_counts counts;
	struct ptc_profile profile;
	struct ptc_call_profile call_profile;
	struct ptc_uftrace uftrace;
	struct ptc_fxt_file fxt;
	struct ptc_arrow arrow;
	struct ptc_totals totals;
	struct ptc_progress *progress; /* borrowed; NULL: no progress */
};

/*
 * Print the head of the output, if any. *ret: the sink for all items. Returns 0, or an error of the
 * output; ptc_decoded_end is then not called.
 */
int ptc_decoded_begin(struct ptc_decoded *o, struct ptc_decode *d, struct ptc_sink *ret,
		      struct ptc_err *err);
/* As ptc_decode_run. The items must come from @sink to the sink of ptc_decoded_begin. */
int ptc_decoded_run(struct ptc_decoded *o, const struct ptc_sink *sink, struct ptc_err *err);
/*
 * Print the tail of the output. @whole: decoding was complete, so include totals, and complete the
 * output. Returns 0, PTC_E_NO_MEMORY, an error of the output, or PTC_E_IO without a message in @err
 * if standard output failed (o->line->failed).
 */
int ptc_decoded_end(struct ptc_decoded *o, bool whole, struct ptc_err *err);

/* ptc_sums_sink.on_sums; ctx is a struct ptc_decoded. Can be called before ptc_decoded_begin. */
int ptc_decoded_sums(void *ctx, const struct ptc_sums *sums);

#endif
