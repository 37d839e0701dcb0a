/* SPDX-License-Identifier: MIT */
/* compare A B: sums over the samples of A, the verdict on all of them, and the report. */
#ifndef PTC_CLI_COMPARE_OTHER_REPORT_H
#define PTC_CLI_COMPARE_OTHER_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/common/recorded_cpu.h"
#include "cli/compare/compare_verdict.h"
#include "ptcap/compare_runs.h"

enum { PTC_OTHER_DEPTHS = 64 }; /* deeper entries count as the last depth */

/* Starts zeroed. */
struct ptc_other_sum {
	uint64_t samples, stacks[PTC_RUNS_STACKS];
	uint64_t entries, verdicts[PTC_RUNS_VERDICTS];
	uint64_t judged, wrong, wrong_samples;
	uint64_t ips, ips_missed; /* compared ips; those to which no code leads */
	struct {
		uint64_t judged, wrong;
	} depths[PTC_OTHER_DEPTHS];
};

void ptc_other_sum_add(struct ptc_other_sum *s, const struct ptc_runs_sample *sample);

/* Do so many stacks end in front of their sample's ip that all may? */
bool ptc_other_is_shifted(const struct ptc_other_sum *s);

/* Returns RIGHT if no more entries are wrong than @limits allows. Such stacks are possible. */
enum ptc_stacks_are ptc_other_judge(const struct ptc_other_sum *s,
				    const struct ptc_compare_limits *limits);

/* Returns "POSSIBLE", "WRONG" or "UNKNOWN". */
const char *ptc_other_judge_name(enum ptc_stacks_are are);

/* Write the verdict as a sentence with its reason, without a newline. */
void ptc_other_judge_text(char *text, size_t size, const struct ptc_other_sum *s,
			  enum ptc_stacks_are are);

/* The report about two recordings: the stacks of one, judged by the trace of the other. */
struct ptc_other_report {
	const struct ptc_other_sum *sum;
	const struct ptc_runs_total *total;
	enum ptc_stacks_are verdict;
	struct ptc_recorded_cpu cpu; /* of the recording with the stacks */
	const char *trace_software;  /* software source of the trace; NULL: none known */
};

void ptc_other_print_text(const struct ptc_other_report *r);
/* Returns false if out of memory. */
bool ptc_other_print_json(const struct ptc_other_report *r);

/*
 * --list: print a line for each entry of @s that is neither in the trace nor possible. @d finds
 * names. Returns false if out of memory.
 */
bool ptc_other_list(const struct ptc_runs_sample *s, struct ptc_decode *d, bool json);

#endif
