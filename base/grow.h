/* SPDX-License-Identifier: MIT */
#ifndef PTC_BASE_GROW_H
#define PTC_BASE_GROW_H

#include <string.h>

#include "base/vec.h"

/* ptc_vec_reserve() for an array of any type. @items: the address of the array's pointer. */
static inline bool ptc_grow(void *items, size_t *cap, size_t want, size_t size)
{
	void *p;

	if (want <= *cap) /* fast path: avoids a call */
		return true;
	memcpy(&p, items, sizeof(void *));
	if (!ptc_vec_reserve(&p, cap, want, size))
		return false;
	memcpy(items, &p, sizeof(void *));
	return true;
}

#endif
