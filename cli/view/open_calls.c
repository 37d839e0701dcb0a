/* SPDX-License-Identifier: MIT */
#include "cli/view/open_calls.h"

#include <assert.h>
#include <stdlib.h>

#include "base/grow.h"

struct ptc_open_call {
	uint32_t thread, function;
	uint64_t open;
};

void ptc_open_calls_release(struct ptc_open_calls *o)
{
	free(o->index.slots);
	free(o->v);
	*o = (struct ptc_open_calls){ .n = 0 };
}

static uint64_t hash_of_open(uint32_t thread, uint32_t function)
{
	return ptc_hash_mix(0, (uint64_t)thread << 32 | function);
}

static struct ptc_open_call *find_open(const struct ptc_open_calls *o, uint32_t thread,
				       uint32_t function)
{
	const struct ptc_number_index *x = &o->index;
	size_t slot;

	if (!x->slots)
		return NULL;
	for (slot = ptc_number_index_first(x, hash_of_open(thread, function)); x->slots[slot];
	     slot = ptc_number_index_next(x, slot)) {
		struct ptc_open_call *c = &o->v[x->slots[slot] - 1];

		if (c->thread == thread && c->function == function)
			return c;
	}
	return NULL;
}

bool ptc_open_calls_add(struct ptc_open_calls *o, uint32_t thread, uint32_t function,
			bool *ret_outermost)
{
	struct ptc_open_call *c = find_open(o, thread, function);
	bool emptied;
	size_t i;

	if (!c) {
		if (o->n >= UINT32_MAX - 1 || !ptc_grow(&o->v, &o->cap, o->n + 1, sizeof(*o->v)) ||
		    !ptc_number_index_grow(&o->index, &emptied))
			return false;
		for (i = 0; i < o->n && emptied; i++)
			ptc_number_index_add(&o->index,
					     hash_of_open(o->v[i].thread, o->v[i].function),
					     (uint32_t)i + 1);
		c = &o->v[o->n++];
		*c = (struct ptc_open_call){ .thread = thread, .function = function };
		ptc_number_index_add(&o->index, hash_of_open(thread, function), (uint32_t)o->n);
	}
	*ret_outermost = !c->open++;
	return true;
}

void ptc_open_calls_remove(struct ptc_open_calls *o, uint32_t thread, uint32_t function)
{
	struct ptc_open_call *c = find_open(o, thread, function);

	assert(c && c->open);
	c->open--;
}
