/* SPDX-License-Identifier: MIT */
/* The order of counts does not depend on the trace, so sums of shards have the same order. */
#include <stdlib.h>

#include "cli/decode/branch_counts.h"

/* Compares texts, not their numbers, so that the order does not depend on the trace. */
static int by_file_and_offset(const struct ptc_names *names, const struct ptc_counts_place *a,
			      const struct ptc_counts_place *b)
{
	int r = ptc_names_compare(names, a->file, b->file);

	if (!r)
		r = ptc_names_compare(names, a->id, b->id);
	if (!r && a->off != b->off)
		r = a->off < b->off ? -1 : 1;
	return r ? r : ptc_names_compare(names, a->symbol, b->symbol);
}

/* The last argument is a struct ptc_names. */
static int by_times(const void *a, const void *b, void *names)
{
	const struct ptc_counts_entry *x = a, *y = b;
	int r;

	if (x->times != y->times)
		return x->times > y->times ? -1 : 1;
	r = by_file_and_offset(names, &x->from, &y->from);
	if (!r)
		r = by_file_and_offset(names, &x->to, &y->to);
	return r ? r : (int)x->kind - (int)y->kind;
}

/* The last argument is a struct ptc_names. */
static int by_line(const void *a, const void *b, void *names)
{
	const struct ptc_counts_entry *x = a, *y = b;

	return by_file_and_offset(names, &x->from, &y->from);
}

void ptc_counts_order(struct ptc_counts *c)
{
	const bool all = c->of == PTC_COUNTS_COVERAGE;

	if (c->n)
		qsort_r(c->entries, c->n, sizeof(*c->entries), all ? by_line : by_times, &c->names);
}
