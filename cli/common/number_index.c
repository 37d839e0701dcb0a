/* SPDX-License-Identifier: MIT */
#include "cli/common/number_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { FIRST_BITS = 10 };

bool ptc_number_index_grow(struct ptc_number_index *x, bool *ret_emptied)
{
	const unsigned int bits = x->slots ? x->bits + 1 : FIRST_BITS;
	uint32_t *slots;

	*ret_emptied = false;
	if (x->slots && (x->n + 1) * 2 <= (size_t)1 << x->bits)
		return true;
	slots = calloc((size_t)1 << bits, sizeof(*slots));
	if (!slots)
		return false;
	free(x->slots);
	*x = (struct ptc_number_index){ .slots = slots, .bits = bits };
	*ret_emptied = true;
	return true;
}

uint32_t ptc_number_append(struct ptc_number_index *x, const struct ptc_number_kind *kind,
			   void *items, size_t *n, size_t *cap, const void *entry)
{
	bool emptied;
	size_t i;
	char *v;

	if (*n >= UINT32_MAX - 2 || !ptc_grow(items, cap, *n + 1, kind->size) ||
	    !ptc_number_index_grow(x, &emptied))
		return 0;
	memcpy(&v, items, sizeof(void *));
	for (i = 0; i < *n && emptied; i++)
		ptc_number_index_add(x, kind->hash(v + i * kind->size), (uint32_t)i + 1);
	memcpy(v + *n * kind->size, entry, kind->size);
	++*n;
	ptc_number_index_add(x, kind->hash(entry), (uint32_t)*n);
	return (uint32_t)*n;
}
