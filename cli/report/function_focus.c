/* SPDX-License-Identifier: MIT */
#include "cli/report/function_focus.h"

#include <stdlib.h>

#include "base/budget.h"
#include "base/grow.h"
#include "ptcap/lookup.h"

static bool look_at_name(struct ptc_function_focus *f, uint32_t number)
{
	const struct ptc_function *function = &f->stream->functions[number];
	const char *name = ptc_names_of(&f->stream->names, function->name);

	return name && ptc_is_function_name(f->plain ? f->plain : f->name, name);
}

bool ptc_function_focus_has(struct ptc_function_focus *f, uint32_t number)
{
	if (number == PTC_NO_NUMBER)
		return false;
	if (!ptc_grow(&f->known, &f->known_cap, (size_t)number + 1, 1))
		return look_at_name(f, number);
	while (f->nknown <= number)
		f->known[f->nknown++] = PTC_FOCUS_UNKNOWN;
	if (f->known[number] == PTC_FOCUS_UNKNOWN)
		f->known[number] = look_at_name(f, number) ? PTC_FOCUS_HAS_NAME : PTC_FOCUS_OTHER;
	return f->known[number] == PTC_FOCUS_HAS_NAME;
}

static uint64_t hash_of_edge(const void *entry)
{
	const struct ptc_call_edge *e = entry;

	return ptc_hash_mix(0, (uint64_t)e->caller << 32 | e->callee);
}

static bool is_same_edge(const void *entry, const void *key)
{
	const struct ptc_call_edge *a = entry, *b = key;

	return a->caller == b->caller && a->callee == b->callee;
}

bool ptc_function_focus_edge(struct ptc_function_focus *f, uint32_t caller, uint32_t callee,
			     uint32_t *ret)
{
	static const struct ptc_number_kind kind = { sizeof(struct ptc_call_edge), hash_of_edge,
						     is_same_edge };
	const struct ptc_call_edge edge = { .caller = caller, .callee = callee };
	const bool has = ptc_function_focus_has(f, callee);

	f->found |= has;
	*ret = 0;
	if (!has && !ptc_function_focus_has(f, caller))
		return true;
	*ret = ptc_number_find(&f->index, &kind, f->edges, &edge);
	if (!*ret && ptc_budget_allows(sizeof(edge)))
		*ret = ptc_number_append(&f->index, &kind, &f->edges, &f->nedges, &f->edges_cap,
					 &edge);
	return *ret;
}

void ptc_function_focus_line(struct ptc_function_focus *f, const struct ptc_item *entry,
			     uint64_t from, const char **ret_file, int *ret_line)
{
	const uint64_t state = from ? ptc_decode_code_state(f->stream->opts.d, entry) : 0;

	*ret_file = NULL;
	if (!from || !f->slowest.max)
		return;
	if (f->line_from != from || f->line_state != state) { /* most calls come from one place */
		f->line_file = ptc_decode_srcline(f->stream->opts.d, entry, from, &f->line_number);
		f->line_from = from;
		f->line_state = state;
	}
	*ret_file = f->line_file;
	*ret_line = f->line_number;
}

bool ptc_function_focus_offer(struct ptc_function_focus *f, struct ptc_slow_call *call)
{
	call->took = call->duration[f->axis];
	return call->at[f->axis] == PTC_NO_TIME || !ptc_slow_calls_want(&f->slowest, call) ||
	       ptc_slow_calls_add(&f->slowest, call);
}

static int by_total(const void *a, const void *b)
{
	const struct ptc_call_edge *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return x->callee < y->callee ? -1 : x->callee > y->callee;
}

void ptc_function_focus_sort(struct ptc_function_focus *f)
{
	size_t i;

	for (i = 0; i < f->nedges; i++)
		f->edges[i].key = f->edges[i].total[f->axis];
	if (f->nedges)
		qsort(f->edges, f->nedges, sizeof(*f->edges), by_total);
	ptc_slow_calls_sort(&f->slowest);
}

void ptc_function_focus_release(struct ptc_function_focus *f)
{
	free(f->plain);
	free(f->known);
	free(f->edges);
	free(f->index.slots);
	ptc_slow_calls_release(&f->slowest);
	*f = (struct ptc_function_focus){ .nedges = 0 };
}
