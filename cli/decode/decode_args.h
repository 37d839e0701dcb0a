/* SPDX-License-Identifier: MIT */
/* The options of `ptcap decode`. */
#ifndef PTC_CLI_DECODE_DECODE_ARGS_H
#define PTC_CLI_DECODE_DECODE_ARGS_H

#include "cli/common/raw_args.h"
#include "cli/common/sandbox.h"
#include "cli/common/selection_args.h"
#include "cli/decode/decode_sink.h"
#include "ptcap/decode.h"

struct ptc_decode_args {
	const char *input;	 /* NULL: perf.data */
	const char *pt;		 /* raw mode */
	const char *cpu;	 /* unparsed, because its meaning depends on other options */
	struct ptc_raw_list raw; /* owned */
	struct ptc_decoded out;
	bool strict, no_pager, full_names;
	const char *color;	       /* NULL: auto */
	bool colors;		       /* result of auto */
	struct ptc_id_list tids, cpus; /* owned */
	struct ptc_time_choice time;
	bool has_time;
	struct ptc_shard_choice shard;
	struct ptc_decode_opts opts;
	struct ptc_code_opts code;
	struct ptc_sums_sink sums; /* counts, stored in out */
	const char *debuginfod;	   /* NULL: use the environment */
	struct ptc_sandbox sandbox;
};

/* Returns -1 to continue, or an exit code. */
int ptc_decode_args_parse(struct ptc_decode_args *a, int argc, char **argv);
void ptc_decode_args_release(struct ptc_decode_args *a);

#endif
