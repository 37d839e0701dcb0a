/* SPDX-License-Identifier: MIT */
#include "decode/session/item_filter.h"

#include <stdlib.h>
#include <string.h>

void ptc_item_filter_release(struct ptc_item_filter *p)
{
	ptc_insn_counter_release(&p->insns);
	ptc_tid_counter_release(&p->skip);
	free(p->plain);
}

bool ptc_item_filter_is_needed(const struct ptc_item_filter *p)
{
	return p->from || p->to != UINT64_MAX || p->sym || p->skip.n || p->count_insns;
}

bool ptc_is_function_name(const char *sym, const char *name)
{
	const size_t n = strlen(sym);

	return !strncmp(sym, name, n) && (!name[n] || name[n] == '(');
}

static bool is_in(struct ptc_item_filter *p, const struct ptc_item *it, uint64_t ip)
{
	uint64_t off;
	const char *name = ip ? ptc_decode_symbol(p->d, it, ip, &off) : NULL;

	return name && ptc_is_function_name(p->plain ? p->plain : p->sym, name);
}

/*
 * Returns true if @it belongs to the thread's first branches, which are not wanted. A gap is
 * dropped if the branch behind it is.
 */
static bool is_skipped(struct ptc_item_filter *p, const struct ptc_item *it)
{
	uint64_t *n;

	if (!p->skip.n)
		return false;
	n = ptc_tid_counter_of(&p->skip, it->tid);
	if (!n)
		p->failed = true;
	if (!n || !*n)
		return false;
	if (it->type == PTC_ITEM_BRANCH || it->type == PTC_ITEM_INSN)
		(*n)--;
	return true;
}

static bool is_item_selected(struct ptc_item_filter *p, const struct ptc_item *it)
{
	const uint64_t time = it->time == PTC_NO_TIME ? 0 : it->time;

	if (is_skipped(p, it) || time < p->from || ptc_item_filter_is_over(p, time))
		return false;
	if (!p->sym || it->type == PTC_ITEM_GAP)
		return true;
	/* The value of an event is no address. */
	return is_in(p, it, it->from) || (it->type == PTC_ITEM_BRANCH && is_in(p, it, it->to));
}

int ptc_item_filter_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_item_filter *p = ctx;
	uint64_t none = 0, *pending = &none;
	size_t i, k = 0;
	int r = 0;

	ptc_insn_counter_begin(&p->insns);
	for (i = 0; i < n && !r; i++) {
		if (p->count_insns)
			pending = ptc_insn_counter_add(&p->insns, &items[i]);
		if (!pending) {
			p->failed = true;
			return 1;
		}
		if (!is_item_selected(p, &items[i]))
			continue;
		if (items[i].type == PTC_ITEM_BRANCH)
			p->branches++;
		else if (items[i].type == PTC_ITEM_GAP)
			p->gaps[items[i].cause]++;
		p->items[k] = items[i];
		p->items[k++].insns = ptc_insn_counter_take(pending);
		if (k == PTC_ITEM_FILTER_BATCH) {
			r = p->sink->on_items(p->sink->ctx, p->items, k);
			k = 0;
		}
	}
	if (!r && k)
		r = p->sink->on_items(p->sink->ctx, p->items, k);
	return r;
}
