/* SPDX-License-Identifier: MIT */
/* Options of `ptcap view`. */
#ifndef PTC_CLI_VIEW_VIEW_ARGS_H
#define PTC_CLI_VIEW_VIEW_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/sandbox.h"
#include "cli/common/selection_args.h"
#include "ptcap/decode.h"

/* Defaults of --max-calls and --branches. */
enum { PTC_VIEW_CALLS = 10 * 1000 * 1000, PTC_VIEW_BRANCHES = 2 * 1000 * 1000 };
/* The same with --serve. */
#define PTC_SERVE_CALLS	   UINT64_C(1000000000)
#define PTC_SERVE_BRANCHES UINT64_C(10000000000)

struct ptc_view_args {
	const char *input, *output; /* set; borrowed */
	bool inlines, sources, serves;
	uint16_t port; /* 0: the kernel chooses */
	uint64_t max_calls, branches;
	bool has_max_calls, has_branches; /* these options were given */
	struct ptc_id_list tids, cpus;
	bool has_time;
	struct ptc_time_choice time;
	const char *debuginfod;
	struct ptc_code_opts code;
	struct ptc_decode_opts opts; /* complete; lends from this struct, which must not move */
	struct ptc_sandbox sandbox;
};

/* Returns -1 to continue, or an exit code. Caller releases @a, also on failure. */
int ptc_view_args_parse(struct ptc_view_args *a, int argc, char **argv);
void ptc_view_args_release(struct ptc_view_args *a);

#endif
