/* SPDX-License-Identifier: MIT */
#include "base/winner_tree.h"

#include <stdlib.h>

/* The first entry below a node, and its time; entry PTC_LEAST_NONE: no entry below has one. */
struct ptc_least_node {
	uint64_t time;
	ptrdiff_t entry;
};

static const struct ptc_least_node NOTHING = { UINT64_MAX, PTC_LEAST_NONE };

bool ptc_least_init(struct ptc_least *t, size_t n)
{
	size_t i;

	t->leaves = 1;
	while (t->leaves < n)
		t->leaves *= 2;
	t->nodes = calloc(t->leaves * 2, sizeof(*t->nodes));
	for (i = 0; t->nodes && i < t->leaves * 2; i++)
		t->nodes[i] = NOTHING;
	return t->nodes;
}

void ptc_least_release(struct ptc_least *t)
{
	free(t->nodes);
	*t = (struct ptc_least){ .leaves = 0 };
}

/* @a is the left node: its entries come first. */
static struct ptc_least_node winner(struct ptc_least_node a, struct ptc_least_node b)
{
	return b.entry == PTC_LEAST_NONE || (a.entry != PTC_LEAST_NONE && a.time <= b.time) ? a : b;
}

static void set(struct ptc_least *t, size_t i, struct ptc_least_node node)
{
	size_t at = t->leaves + i;

	t->nodes[at] = node;
	for (at /= 2; at; at /= 2)
		t->nodes[at] = winner(t->nodes[at * 2], t->nodes[at * 2 + 1]);
}

void ptc_least_set(struct ptc_least *t, size_t i, uint64_t time)
{
	set(t, i, (struct ptc_least_node){ time, (ptrdiff_t)i });
}

void ptc_least_clear(struct ptc_least *t, size_t i)
{
	set(t, i, NOTHING);
}

ptrdiff_t ptc_least_first(const struct ptc_least *t, uint64_t *ret_time)
{
	*ret_time = t->nodes[1].time;
	return t->nodes[1].entry;
}

ptrdiff_t ptc_least_second(const struct ptc_least *t, uint64_t *ret_time)
{
	const ptrdiff_t first = t->nodes[1].entry;
	struct ptc_least_node best = NOTHING;
	size_t at;

	/*
	 * The second entry lost against the first entry only. So it wins a subtree beside the path
	 * of the first entry.
	 */
	for (at = t->leaves + (size_t)first; first != PTC_LEAST_NONE && at > 1; at /= 2)
		best = at & 1 ? winner(t->nodes[at - 1], best) : winner(best, t->nodes[at + 1]);
	*ret_time = best.time;
	return best.entry;
}
