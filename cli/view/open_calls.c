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

static uint64_t hash_of_open(const void *entry)
{
	const struct ptc_open_call *c = entry;

	return ptc_hash_mix(0, (uint64_t)c->thread << 32 | c->function);
}

static bool is_same_open(const void *entry, const void *key)
{
	const struct ptc_open_call *a = entry, *b = key;

	return a->thread == b->thread && a->function == b->function;
}

static const struct ptc_number_kind kind = { sizeof(struct ptc_open_call), hash_of_open,
					     is_same_open };

bool ptc_open_calls_add(struct ptc_open_calls *o, uint32_t thread, uint32_t function,
			bool *ret_outermost)
{
	const struct ptc_open_call key = { .thread = thread, .function = function };
	uint32_t number = ptc_number_find(&o->index, &kind, o->v, &key);

	if (!number)
		number = ptc_number_append(&o->index, &kind, &o->v, &o->n, &o->cap, &key);
	if (!number)
		return false;
	*ret_outermost = !o->v[number - 1].open++;
	return true;
}

void ptc_open_calls_remove(struct ptc_open_calls *o, uint32_t thread, uint32_t function)
{
	const struct ptc_open_call key = { .thread = thread, .function = function };
	const uint32_t number = ptc_number_find(&o->index, &kind, o->v, &key);

	assert(number && o->v[number - 1].open);
	o->v[number - 1].open--;
}
