/* SPDX-License-Identifier: MIT */
/* The options of `ptcap decode`. */
#ifndef PTC_CLI_DECODE_ARGS_H
#define PTC_CLI_DECODE_ARGS_H

#include "choice.h"
#include "decoded.h"
#include "ptcap/decode.h"
#include "sandbox.h"

struct ptc_decode_args {
	const char *input;	  /* NULL: perf.data */
	const char *pt;		  /* raw mode */
	const char *cpu;	  /* as given: means one thing or the other */
	struct ptc_raw_code *raw; /* owned, and so are the paths in it */
	size_t nraw;
	struct ptc_decoded out;
	bool strict, help, no_pager;
	const char *color;	       /* NULL: auto */
	bool colors;		       /* what auto means */
	struct ptc_id_list tids, cpus; /* owned */
	struct ptc_time_choice time;
	bool has_time;
	struct ptc_decode_opts opts;
	struct ptc_code_opts code;
	struct ptc_sums_sink sums; /* into out */
	const char *debuginfod;	   /* NULL: as the environment has it */
	struct ptc_sandbox sandbox;
};

/* Returns 0 to go on, which with a->help is to help, or an exit code. */
int ptc_decode_args_parse(struct ptc_decode_args *a, int argc, char **argv);
void ptc_decode_args_release(struct ptc_decode_args *a);

void ptc_decode_help(void);

#endif
