/* SPDX-License-Identifier: MIT */
/* The report of compare on stdout, as text and JSON. */
#ifndef PTC_CLI_COMPARE_COMPARE_REPORT_H
#define PTC_CLI_COMPARE_COMPARE_REPORT_H

#include <stdbool.h>

#include "cli/common/recorded_cpu.h"
#include "cli/compare/compare_stats.h"
#include "cli/compare/compare_verdict.h"

/* @cpu: the CPU of the stacks, as the recording says. */
void ptc_compare_print_text(const struct ptc_compare_sum *s, enum ptc_stacks_are verdict,
			    const struct ptc_recorded_cpu *cpu);
/* Returns false if out of memory. */
bool ptc_compare_print_json(const struct ptc_compare_sum *s, enum ptc_stacks_are verdict,
			    uint64_t slack_ns, const struct ptc_recorded_cpu *cpu);

/* Print the line of the CPU, and the line of the software source, if any. */
void ptc_compare_print_cpu(const struct ptc_recorded_cpu *cpu);
/* Add the members "cpu" and "software_source" to @o. Returns false if out of memory. */
bool ptc_compare_set_cpu(json_t *o, const struct ptc_recorded_cpu *cpu);

/*
 * --list: print a line for each row of @s that is not exact, with the functions that @names finds.
 * Returns false if out of memory.
 */
bool ptc_compare_list(const struct ptc_compare_sample *s, const struct ptc_side_names *names,
		      bool json);

#endif
