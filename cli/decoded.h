/* SPDX-License-Identifier: MIT */
/* What `ptcap decode` makes of a recording: the sink for the form that was asked for. */
#ifndef PTC_CLI_DECODED_H
#define PTC_CLI_DECODED_H

#include <stdbool.h>
#include <stdint.h>

#include "counts.h"
#include "out.h"
#include "out_bin.h"
#include "out_calls.h"
#include "out_stats.h"
#include "ptcap/decode.h"
#include "terminal.h"

struct ptc_decoded_form {
	struct ptc_fields fields;
	bool json, bin, insn, calls, stats, color;
	enum ptc_counts_of counts;
	uint64_t most; /* of the counts; 0: all */
};

/* Starts zeroed, but for form and totals. */
struct ptc_decoded {
	struct ptc_decoded_form form;
	struct ptc_decode *d; /* lent */
	struct ptc_line *line;
	struct ptc_printer printer;
	struct ptc_bin_printer bin;
	struct ptc_calls_printer calls;
	struct ptc_counts counts;
	struct ptc_totals totals;
	struct ptc_progress *progress; /* lent; NULL: nobody is told */
};

/* What comes first, if anything; *ret is for all items. False: out of memory. */
bool ptc_decoded_begin(struct ptc_decoded *o, struct ptc_decode *d, struct ptc_sink *ret);
/*
 * What comes last: of a decode that came to its end (@whole) totals, too. False: out of memory, or
 * standard output does not take it (o->line->failed).
 */
bool ptc_decoded_end(struct ptc_decoded *o, bool whole);

/* ptc_sums_sink.on_sums; ctx is a struct ptc_decoded, which may not have begun. */
int ptc_decoded_sums(void *ctx, const struct ptc_sums *sums);

#endif
