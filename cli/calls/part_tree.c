/* SPDX-License-Identifier: MIT */
#include "cli/calls/part_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static uint64_t hash_of_part_node(const void *entry)
{
	const struct ptc_part_node *n = entry;

	return ptc_hash_mix(0, (uint64_t)n->parent << 32 | n->function);
}

static bool is_same_part_node(const void *entry, const void *key)
{
	const struct ptc_part_node *a = entry, *b = key;

	return a->parent == b->parent && a->function == b->function;
}

/* Returns the number + 1 of the node of @function below @parent, which may be new. 0: no memory. */
static uint32_t node_below(struct ptc_part_tree *t, uint32_t parent, uint32_t function)
{
	static const struct ptc_number_kind kind = { sizeof(struct ptc_part_node),
						     hash_of_part_node, is_same_part_node };
	const struct ptc_part_node node = { .parent = parent, .function = function };
	const uint32_t found = ptc_number_find(&t->index, &kind, t->nodes, &node);

	return found ? found :
		       ptc_number_append(&t->index, &kind, &t->nodes, &t->n, &t->cap, &node);
}

static uint32_t innermost(const struct ptc_part_tree *t)
{
	return t->nopen ? t->open[t->nopen - 1].node : 0;
}

/* Count what ran since the last event for the innermost function. */
static void count_self(struct ptc_part_tree *t, const uint64_t *now)
{
	struct ptc_part_node *n = &t->nodes[innermost(t)];
	unsigned int a;

	for (a = 0; a < PTC_PART_AXES; a++) {
		if (now[a] == PTC_NO_TIME)
			continue;
		if (t->last[a] != PTC_NO_TIME && now[a] > t->last[a])
			n->self[a] += now[a] - t->last[a];
		t->last[a] = now[a];
	}
}

static bool begin_call(struct ptc_part_tree *t, uint32_t function, const uint64_t *now)
{
	const uint32_t node = node_below(t, innermost(t), function);

	if (!node || !ptc_grow(&t->open, &t->open_cap, t->nopen + 1, sizeof(*t->open)))
		return false;
	t->nodes[node - 1].calls++;
	t->open[t->nopen++] = (struct ptc_part_open){ node - 1, { now[0], now[1] } };
	return true;
}

static void end_call(struct ptc_part_tree *t, const uint64_t *now)
{
	const struct ptc_part_open *o = &t->open[--t->nopen];
	struct ptc_part_node *n = &t->nodes[o->node];
	unsigned int a;

	for (a = 0; a < PTC_PART_AXES; a++)
		if (o->since[a] != PTC_NO_TIME && now[a] != PTC_NO_TIME && now[a] > o->since[a])
			n->total[a] += now[a] - o->since[a];
}

bool ptc_part_tree_event(struct ptc_part_tree *t, const struct ptc_call_event *e,
			 struct ptc_part_open *ret_ended)
{
	const uint64_t now[PTC_PART_AXES] = { e->call->insns, e->call->item->time };

	if (!t->n) {
		if (!node_below(t, PTC_NO_NUMBER, PTC_NO_NUMBER))
			return false;
		memcpy(t->first, now, sizeof(now));
		memcpy(t->last, now, sizeof(now));
	}
	count_self(t, now);
	if (e->call->type == PTC_CALL_ENTER)
		return begin_call(t, e->function, now);
	if (!t->nopen)
		return true;
	if (ret_ended)
		*ret_ended = t->open[t->nopen - 1];
	end_call(t, now);
	return true;
}

void ptc_part_tree_clear(struct ptc_part_tree *t)
{
	t->n = t->nopen = 0;
	free(t->index.slots);
	t->index = (struct ptc_number_index){ .n = 0 };
}

void ptc_part_tree_release(struct ptc_part_tree *t)
{
	free(t->nodes);
	free(t->index.slots);
	free(t->open);
	*t = (struct ptc_part_tree){ .n = 0 };
}
