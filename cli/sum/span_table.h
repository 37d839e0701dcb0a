/* SPDX-License-Identifier: MIT */
/* Counts of pairs of addresses in a program, added over files. */
#ifndef PTC_CLI_SUM_SPAN_TABLE_H
#define PTC_CLI_SUM_SPAN_TABLE_H

#include "cli/common/number_index.h"

/* An end that is not in the program. */
#define PTC_SPAN_OUTSIDE UINT64_MAX

struct ptc_span {
	unsigned int list; /* the list of the profile that has the span */
	uint64_t from, to;
	uint64_t times, misses; /* misses: of the branch prediction */
};

/* Initialize with zeros. */
struct ptc_span_table {
	struct ptc_span *spans; /* owned */
	size_t n, cap;
	struct ptc_number_index index;
};

/* Adds the counts of @span. Returns false if out of memory. */
bool ptc_span_table_add(struct ptc_span_table *t, const struct ptc_span *span);
/* Sorts the spans by list and addresses. Nothing can be added any more. */
void ptc_span_table_sort(struct ptc_span_table *t);
void ptc_span_table_release(struct ptc_span_table *t);

#endif
