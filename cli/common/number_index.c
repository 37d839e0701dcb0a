/* SPDX-License-Identifier: MIT */
#include "cli/common/number_index.h"

#include <stdlib.h>

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
