/* SPDX-License-Identifier: MIT */
/* `ptcap decode --counts=coverage`: file by file, which lines of the source ran, and which did not.
 */
#ifndef PTC_CLI_COVERAGE_H
#define PTC_CLI_COVERAGE_H

#include "counts.h"

struct ptc_coverage_file {
	const char *name;		      /* lent */
	const struct ptc_counts_entry *lines; /* lent; ascending */
	size_t n, ran;			      /* in all; of those that ran */
};

struct ptc_coverage {
	struct ptc_coverage_file *files; /* owned; where most lines ran first */
	size_t n, cap;
	size_t lines, ran; /* of all */
};

/* Of @c, which is sorted, and must outlive it. False: out of memory. */
bool ptc_coverage_make(struct ptc_coverage *v, const struct ptc_counts *c);
void ptc_coverage_release(struct ptc_coverage *v);

/* Lines that have code, one behind the other, of which none ran. */
struct ptc_coverage_gap {
	uint64_t first, last;
};

/* The next one of @f from the line at *@at on, which moves. False: no more. */
bool ptc_coverage_next(const struct ptc_coverage_file *f, size_t *at, struct ptc_coverage_gap *ret);

#endif
