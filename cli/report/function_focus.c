/* SPDX-License-Identifier: MIT */
#include "cli/report/function_focus.h"

#include <stdlib.h>

#include "base/budget.h"
#include "base/grow.h"
#include "decode/session/item_filter.h"

static bool look_at_name(struct ptc_function_focus *f, uint32_t number)
{
	const struct ptc_function *function = &f->stream->functions[number];
	const char *name = ptc_names_of(&f->stream->names, function->name);

	return name && ptc_item_filter_is_name(f->plain ? f->plain : f->name, name);
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

static uint64_t hash_of_edge(uint32_t caller, uint32_t callee)
{
	return ptc_hash_mix(0, (uint64_t)caller << 32 | callee);
}

bool ptc_function_focus_edge(struct ptc_function_focus *f, uint32_t caller, uint32_t callee,
			     uint32_t *ret)
{
	const bool has = ptc_function_focus_has(f, callee);
	const uint64_t hash = hash_of_edge(caller, callee);
	struct ptc_number_index *x = &f->index;
	const struct ptc_call_edge *e;
	bool emptied;
	size_t slot, i;

	f->found |= has;
	*ret = 0;
	if (!has && !ptc_function_focus_has(f, caller))
		return true;
	for (slot = x->slots ? ptc_number_index_first(x, hash) : 0; x->slots && x->slots[slot];
	     slot = ptc_number_index_next(x, slot)) {
		e = &f->edges[x->slots[slot] - 1];
		if (e->caller == caller && e->callee == callee) {
			*ret = x->slots[slot];
			return true;
		}
	}
	if (f->nedges >= UINT32_MAX - 1 || !ptc_budget_allows(sizeof(*f->edges)) ||
	    !ptc_grow(&f->edges, &f->edges_cap, f->nedges + 1, sizeof(*f->edges)) ||
	    !ptc_number_index_grow(x, &emptied))
		return false;
	for (i = 0; i < f->nedges && emptied; i++)
		ptc_number_index_add(x, hash_of_edge(f->edges[i].caller, f->edges[i].callee),
				     (uint32_t)i + 1);
	f->edges[f->nedges++] = (struct ptc_call_edge){ .caller = caller, .callee = callee };
	*ret = (uint32_t)f->nedges;
	ptc_number_index_add(x, hash, *ret);
	return true;
}

bool ptc_function_focus_offer(struct ptc_function_focus *f, const struct ptc_call *end,
			      struct ptc_slow_call *call)
{
	call->took = call->duration[f->axis];
	if (!ptc_slow_calls_want(&f->slowest, call->took))
		return true;
	call->file = NULL;
	if (call->from)
		call->file =
			ptc_decode_srcline(f->stream->opts.d, end->item, call->from, &call->line);
	return ptc_slow_calls_add(&f->slowest, call);
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
