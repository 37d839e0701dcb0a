/* SPDX-License-Identifier: MIT */
/* The report of compare on stdout, as text and JSON. */
#ifndef PTC_CLI_COMPARE_COMPARE_REPORT_H
#define PTC_CLI_COMPARE_COMPARE_REPORT_H

#include <stdbool.h>

#include "cli/compare/compare_verdict.h"
#include "decode/lbr/compare_stats.h"

void ptc_compare_print_text(const struct ptc_compare_sum *s, enum ptc_stacks_are verdict);
/* Returns false if out of memory. */
bool ptc_compare_print_json(const struct ptc_compare_sum *s, enum ptc_stacks_are verdict,
			    uint64_t slack_ns);

/*
 * --list: print a line for each row of @s that is not exact, with the functions that @names finds.
 * Returns false if out of memory.
 */
bool ptc_compare_list(const struct ptc_compare_sample *s, const struct ptc_side_names *names,
		      bool json);

#endif
