/* SPDX-License-Identifier: MIT */
#include "cli/calls/call_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Where a thread is. */
struct ptc_tree_thread {
	uint32_t node_plus_one; /* of the function that runs; 0: the thread has no node yet */
	uint32_t below;		/* functions that run below depth_max */
	uint64_t last_insns, last_time; /* of its last event */
};

void ptc_call_tree_init(struct ptc_call_tree *t, uint32_t depth_max)
{
	*t = (struct ptc_call_tree){ .depth_max = depth_max, .nodes_max = PTC_TREE_NODES_MAX };
}

void ptc_call_tree_release(struct ptc_call_tree *t)
{
	free(t->nodes);
	free(t->index.slots);
	free(t->threads);
	*t = (struct ptc_call_tree){ .depth_max = t->depth_max, .nodes_max = t->nodes_max };
}

static uint64_t hash_of_node(const void *entry)
{
	const struct ptc_tree_node *n = entry;

	return ptc_hash_mix(0, (uint64_t)n->parent << 32 | n->function);
}

static bool is_same_node(const void *entry, const void *key)
{
	const struct ptc_tree_node *a = entry, *b = key;

	return a->parent == b->parent && a->function == b->function;
}

static const struct ptc_number_kind node_kind = { sizeof(struct ptc_tree_node), hash_of_node,
						  is_same_node };

/* Returns the number of a new node. PTC_NO_NUMBER: out of memory, or full is set. */
static uint32_t add_node(struct ptc_call_tree *t, uint32_t parent, uint32_t function)
{
	const struct ptc_tree_node node = {
		.parent = parent,
		.function = function,
		.recent = PTC_NO_NUMBER,
		.depth = parent == PTC_NO_NUMBER ? 0 : t->nodes[parent].depth + 1,
	};

	t->full |= t->n >= t->nodes_max;
	if (t->full)
		return PTC_NO_NUMBER;
	/* 0 becomes PTC_NO_NUMBER */
	return ptc_number_append(&t->index, &node_kind, &t->nodes, &t->n, &t->cap, &node) - 1;
}

/* Returns the child of @parent for @function. PTC_NO_NUMBER: as add_node. */
static uint32_t child_of(struct ptc_call_tree *t, uint32_t parent, uint32_t function)
{
	const struct ptc_tree_node key = { .parent = parent, .function = function };
	const uint32_t recent = t->nodes[parent].recent;
	uint32_t found;

	if (recent != PTC_NO_NUMBER && t->nodes[recent].function == function)
		return recent;
	found = ptc_number_find(&t->index, &node_kind, t->nodes, &key) - 1;
	if (found == PTC_NO_NUMBER)
		found = add_node(t, parent, function);
	if (found != PTC_NO_NUMBER)
		t->nodes[parent].recent = found;
	return found;
}

/* Returns the place of the event's thread. NULL: out of memory, or full is set. */
static struct ptc_tree_thread *tree_thread(struct ptc_call_tree *t, const struct ptc_call_event *e)
{
	const uint32_t number = e->thread;
	const size_t n = t->nthreads;
	uint32_t node;

	if (number >= n) {
		if (!ptc_grow(&t->threads, &t->threads_cap, number + 1, sizeof(*t->threads)))
			return NULL;
		t->nthreads = number + 1;
		memset(t->threads + n, 0, (t->nthreads - n) * sizeof(*t->threads));
	}
	if (t->threads[number].node_plus_one)
		return &t->threads[number];
	node = add_node(t, PTC_NO_NUMBER, number);
	if (node == PTC_NO_NUMBER)
		return NULL;
	/* The first event includes instructions in front of a selected part (--time). */
	t->threads[number] = (struct ptc_tree_thread){
		.node_plus_one = node + 1,
		.last_insns = e->insns_before ? e->insns_before : e->call->insns,
		.last_time = PTC_NO_TIME,
	};
	return &t->threads[number];
}

/*
 * Count what ran since the last event of the thread. Instructions without a function, behind a gap,
 * count for the thread. Time without a function does not count: nobody ran then.
 */
static void count_own(struct ptc_call_tree *t, struct ptc_tree_thread *at, uint64_t insns,
		      uint64_t time)
{
	struct ptc_tree_node *n = &t->nodes[at->node_plus_one - 1];

	n->insns += insns - at->last_insns;
	at->last_insns = insns;
	if (time == PTC_NO_TIME)
		return;
	if (n->depth && at->last_time != PTC_NO_TIME && time > at->last_time)
		n->ns += time - at->last_time;
	at->last_time = time;
}

static int no_node(const struct ptc_call_tree *t)
{
	return t->full ? PTC_E_LIMIT : PTC_E_NO_MEMORY;
}

/* Without a node for it, a function below depth_max counts for its caller. */
static int enter_node(struct ptc_call_tree *t, struct ptc_tree_thread *at, uint32_t function)
{
	uint32_t child;

	if (at->below || t->nodes[at->node_plus_one - 1].depth == t->depth_max) {
		at->below++;
		return 0;
	}
	child = child_of(t, at->node_plus_one - 1, function);
	if (child == PTC_NO_NUMBER)
		return no_node(t);
	at->node_plus_one = child + 1;
	return 0;
}

static void leave_node(struct ptc_call_tree *t, struct ptc_tree_thread *at)
{
	const struct ptc_tree_node *n = &t->nodes[at->node_plus_one - 1];

	if (at->below)
		at->below--;
	else if (n->depth)
		at->node_plus_one = n->parent + 1;
}

int ptc_call_tree_event(struct ptc_call_tree *t, const struct ptc_call_event *e)
{
	struct ptc_tree_thread *at;
	int rc;

	if (e->call->type == PTC_CALL_LOST)
		return 0;
	at = tree_thread(t, e);
	if (!at)
		return no_node(t);
	count_own(t, at, e->call->insns, e->call->item->time);
	if (e->call->type == PTC_CALL_ENTER) {
		rc = enter_node(t, at, e->function);
		t->cut += at->below != 0;
		return rc;
	}
	leave_node(t, at);
	return 0;
}

/* --- parts --- */

int ptc_call_tree_open(struct ptc_call_tree *t, uint32_t thread, uint32_t function)
{
	return enter_node(t, &t->threads[thread], function);
}

/* Returns the node for node @i of the part, whose parent is in @places. PTC_NO_NUMBER: as add_node.
 */
static uint32_t joined_node(struct ptc_call_tree *t, const struct ptc_joined_tree *part, size_t i,
			    const uint32_t *places, bool below)
{
	const struct ptc_part_node *n = &part->nodes[i];
	const uint32_t parent = places[n->parent];

	if (below || t->nodes[parent].depth == t->depth_max) {
		t->cut += n->calls;
		return parent;
	}
	return child_of(t, parent, n->function);
}

int ptc_call_tree_join(struct ptc_call_tree *t, const struct ptc_joined_tree *part)
{
	struct ptc_tree_thread *at = &t->threads[part->thread];
	uint32_t *places = calloc(part->n, sizeof(*places));
	size_t i;

	if (!places)
		return PTC_E_NO_MEMORY;
	count_own(t, at, part->first[PTC_PART_INSNS], part->first[PTC_PART_TIME]);
	places[0] = at->node_plus_one - 1;
	for (i = 0; i < part->n; i++) {
		if (i)
			places[i] = joined_node(t, part, i, places, at->below);
		if (places[i] == PTC_NO_NUMBER)
			break;
		t->nodes[places[i]].insns += part->nodes[i].self[PTC_PART_INSNS];
		t->nodes[places[i]].ns += part->nodes[i].self[PTC_PART_TIME];
	}
	free(places);
	at->last_insns = part->last[PTC_PART_INSNS];
	if (part->last[PTC_PART_TIME] != PTC_NO_TIME)
		at->last_time = part->last[PTC_PART_TIME];
	return i == part->n ? 0 : no_node(t);
}

size_t ptc_call_tree_path(const struct ptc_call_tree *t, uint32_t number, uint32_t *path)
{
	const size_t n = t->nodes[number].depth + 1;
	size_t i;

	for (i = n; i; i--) {
		path[i - 1] = number;
		number = t->nodes[number].parent;
	}
	return n;
}
