/* SPDX-License-Identifier: MIT */
/* `ptcap decode --counts=coverage`: executed and not executed source lines, by file. */
#ifndef PTC_CLI_DECODE_COVERAGE_H
#define PTC_CLI_DECODE_COVERAGE_H

#include "cli/decode/branch_counts.h"

struct ptc_coverage_file {
	const char *name;		      /* borrowed */
	const struct ptc_counts_entry *lines; /* borrowed; ascending */
	size_t n, ran;			      /* n: all lines; ran: executed lines */
};

struct ptc_coverage {
	struct ptc_coverage_file *files; /* owned; files with the most executed lines first */
	size_t n, cap;
	size_t lines, ran; /* sums */
};

/* Fill @v from @c, which must be sorted and must outlive it. Returns false if out of memory. */
bool ptc_coverage_make(struct ptc_coverage *v, const struct ptc_counts *c);
void ptc_coverage_release(struct ptc_coverage *v);

/* A range of consecutive lines with code, none of which was executed. */
struct ptc_coverage_gap {
	uint64_t first, last;
};

/* Get the next range of @f, starting at index *@at, which advances. Returns false at the end. */
bool ptc_coverage_next(const struct ptc_coverage_file *f, size_t *at, struct ptc_coverage_gap *ret);

#endif
