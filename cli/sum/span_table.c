/* SPDX-License-Identifier: MIT */
#include "cli/sum/span_table.h"

#include <stdlib.h>

#include "cli/sum/sum_line.h"

static uint64_t hash_of_span(const void *entry)
{
	const struct ptc_span *s = entry;

	return ptc_hash_mix(ptc_hash_mix(s->list, s->from), s->to);
}

static bool is_same_span(const void *entry, const void *key)
{
	const struct ptc_span *a = entry, *b = key;

	return a->list == b->list && a->from == b->from && a->to == b->to;
}

bool ptc_span_table_add(struct ptc_span_table *t, const struct ptc_span *span)
{
	static const struct ptc_number_kind kind = { sizeof(*span), hash_of_span, is_same_span };
	const uint32_t number = ptc_number_find(&t->index, &kind, t->spans, span);

	if (!number)
		return ptc_number_append(&t->index, &kind, &t->spans, &t->n, &t->cap, span);
	ptc_sum_add(&t->spans[number - 1].times, span->times);
	ptc_sum_add(&t->spans[number - 1].misses, span->misses);
	return true;
}

static int by_list_and_addresses(const void *a, const void *b)
{
	const struct ptc_span *x = a, *y = b;

	if (x->list != y->list)
		return x->list < y->list ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

void ptc_span_table_sort(struct ptc_span_table *t)
{
	if (t->n)
		qsort(t->spans, t->n, sizeof(*t->spans), by_list_and_addresses);
}

void ptc_span_table_release(struct ptc_span_table *t)
{
	free(t->spans);
	free(t->index.slots);
}
