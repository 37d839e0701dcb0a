/* SPDX-License-Identifier: MIT */
#include "cli/calls/function_order.h"

#include <stdlib.h>

static int by_names(const void *a, const void *b, void *stream)
{
	const struct ptc_call_stream *s = stream;
	const struct ptc_function *x = &s->functions[*(const uint32_t *)a];
	const struct ptc_function *y = &s->functions[*(const uint32_t *)b];
	int r = ptc_names_compare(&s->names, x->file, y->file);

	if (!r)
		r = ptc_names_compare(&s->names, x->name, y->name);
	if (!r)
		r = (x->off > y->off) - (x->off < y->off);
	if (!r)
		r = ptc_names_compare(&s->names, x->id, y->id);
	return r ? r : x->inlined - y->inlined;
}

bool ptc_function_order_init(struct ptc_function_order *o, const struct ptc_call_stream *s)
{
	const size_t n = s->nfunctions;
	size_t i;

	o->names = &s->names;
	o->at = calloc(n + 1, sizeof(*o->at));
	o->rank = calloc(n + 1, sizeof(*o->rank));
	if (!o->at || !o->rank)
		return false;
	for (i = 0; i < n; i++)
		o->at[i] = (uint32_t)i;
	qsort_r(o->at, n, sizeof(*o->at), by_names, (void *)s);
	for (i = 0; i < n; i++)
		o->rank[o->at[i]] = (uint32_t)i;
	return true;
}

void ptc_function_order_release(struct ptc_function_order *o)
{
	free(o->at);
	free(o->rank);
	*o = (struct ptc_function_order){ .names = NULL };
}
