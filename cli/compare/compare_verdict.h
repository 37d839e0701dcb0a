/* SPDX-License-Identifier: MIT */
/* The verdict of compare on a whole recording: what the exit status says, in one sentence. */
#ifndef PTC_CLI_COMPARE_COMPARE_VERDICT_H
#define PTC_CLI_COMPARE_COMPARE_VERDICT_H

#include <stddef.h>
#include <stdint.h>

#include "cli/compare/compare_stats.h"

enum ptc_stacks_are {
	PTC_STACKS_RIGHT,   /* the judged entries agree with the trace */
	PTC_STACKS_WRONG,   /* they differ, by more than is allowed */
	PTC_STACKS_UNKNOWN, /* too few entries could be judged */
};

/* Parts per million of the entries: --max-wrong and --min-judged. */
struct ptc_compare_limits {
	uint64_t max_wrong_ppm, min_judged_ppm;
};

/* Returns the verdict. @s: finished sums. */
enum ptc_stacks_are ptc_compare_verdict(const struct ptc_compare_sum *s,
					const struct ptc_compare_limits *limits);

/* Returns "RIGHT", "WRONG" or "UNKNOWN". */
const char *ptc_compare_verdict_name(enum ptc_stacks_are are);

/* Write the verdict as a sentence with its reason, without a newline. */
void ptc_compare_verdict_text(char *text, size_t size, const struct ptc_compare_sum *s,
			      enum ptc_stacks_are are);

#endif
