/* SPDX-License-Identifier: MIT */
#include "cli/view/branch_collector.h"

#include <stdlib.h>

#include "base/grow.h"

bool ptc_branch_collector_init(struct ptc_branch_collector *b, struct ptc_decode *d,
			       struct ptc_names *texts, struct ptc_view_sources *sources,
			       uint64_t limit)
{
	*b = (struct ptc_branch_collector){ .limit = limit };
	return ptc_call_sites_init(&b->sites, d, texts, sources) &&
	       ptc_event_encoder_init(&b->events);
}

static void drop_branches(struct ptc_branch_collector *b)
{
	size_t i;

	for (i = 0; i < b->nchunks; i++)
		ptc_buf_release(&b->chunks[i]);
	free(b->chunks);
	free(b->v);
	free(b->index.slots);
	ptc_call_sites_release(&b->sites);
	b->chunks = NULL;
	b->v = NULL;
	b->index = (struct ptc_number_index){ .n = 0 };
	b->nchunks = b->chunks_cap = b->nv = b->cap = 0;
}

void ptc_branch_collector_release(struct ptc_branch_collector *b)
{
	drop_branches(b);
	ptc_event_encoder_release(&b->events);
}

/* --- different branches --- */

static uint64_t hash_of_edge(const void *entry)
{
	const struct ptc_view_edge *e = entry;

	return ptc_hash_mix(ptc_hash_mix(0, (uint64_t)e->from << 32 | e->to), e->kind);
}

static bool is_same_edge(const void *entry, const void *key)
{
	const struct ptc_view_edge *a = entry, *b = key;

	return a->from == b->from && a->to == b->to && a->kind == b->kind;
}

/* Returns the number of @e, which may be new. UINT32_MAX: out of memory. */
static uint32_t number_of_edge(struct ptc_branch_collector *b, const struct ptc_view_edge *e)
{
	static const struct ptc_number_kind kind = { sizeof(*e), hash_of_edge, is_same_edge };
	uint32_t number = ptc_number_find(&b->index, &kind, b->v, e);

	if (!number)
		number = ptc_number_append(&b->index, &kind, &b->v, &b->nv, &b->cap, e);
	return number - 1; /* 0 becomes UINT32_MAX */
}

/* --- branches --- */

static bool keep_chunk(struct ptc_branch_collector *b)
{
	if (!ptc_grow(&b->chunks, &b->chunks_cap, b->nchunks + 1, sizeof(*b->chunks)))
		return false;
	b->chunks[b->nchunks] = (struct ptc_buf)PTC_BUF_INIT;
	return ptc_event_encoder_take(&b->events, &b->chunks[b->nchunks++]);
}

bool ptc_branch_collector_add(struct ptc_branch_collector *b, struct ptc_branch_thread *t,
			      uint32_t number, const struct ptc_item *item, uint64_t insns,
			      uint64_t time_ns)
{
	struct ptc_view_edge e = { .kind = item->kind };
	struct ptc_coded_event event = { .thread = number, .in = t->last, .last = t->before };
	uint32_t edge;

	if (!b->over && (b->n == b->limit || (b->edges_max && b->nv > b->edges_max))) {
		b->over = true;
		drop_branches(b);
	}
	if (b->over)
		return true;
	e.from = ptc_call_sites_number(&b->sites, item, item->from);
	e.to = ptc_call_sites_number(&b->sites, item, item->to);
	edge = e.from == UINT32_MAX || e.to == UINT32_MAX ? UINT32_MAX : number_of_edge(b, &e);
	if (edge == UINT32_MAX)
		return false;
	event.op = edge + 1;
	event.insns = insns - t->insns;
	event.time_ns = time_ns - b->time_ns;
	if (b->encodes)
		ptc_event_encoder_add(&b->events, &event);
	*t = (struct ptc_branch_thread){ edge + 1, t->last, insns, time_ns, t->n + 1 };
	b->time_ns = time_ns;
	b->n++;
	return b->events.n < PTC_CHUNK_EVENTS || keep_chunk(b);
}

bool ptc_branch_collector_finish(struct ptc_branch_collector *b)
{
	return b->over || !b->events.n || keep_chunk(b);
}
