/* SPDX-License-Identifier: MIT */
#ifndef PTC_CLI_DECODE_OUT_COVERAGE_H
#define PTC_CLI_DECODE_OUT_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

struct ptc_counts;
struct ptc_line;

/* ptc_counts_print for COVERAGE: one line per file. */
bool ptc_coverage_print(const struct ptc_counts *c, struct ptc_line *l, size_t most, bool json);
/* Print COVERAGE as lcov's tracefile (geninfo(1)), with the count of each line. */
bool ptc_lcov_print(const struct ptc_counts *c, struct ptc_line *l);

#endif
