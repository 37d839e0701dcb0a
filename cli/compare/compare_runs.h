/* SPDX-License-Identifier: MIT */
/* compare A B: the stacks of A, judged by the trace of B, another run of the same program. */
#ifndef PTC_CLI_COMPARE_COMPARE_RUNS_H
#define PTC_CLI_COMPARE_COMPARE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/compare/compare_verdict.h"

struct ptc_compare_runs {
	const char *a, *b;    /* the recordings */
	uint64_t first, last; /* --samples */
	struct ptc_compare_limits limits;
	bool json, list;
};

/* Compare, and print the report. Returns the exit code. */
int ptc_compare_runs(const struct ptc_compare_runs *r);

#endif
