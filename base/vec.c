/* SPDX-License-Identifier: MIT */
#include "base/vec.h"

#include <stdlib.h>

bool ptc_vec_reserve(void **items, size_t *cap, size_t want, size_t size)
{
	size_t n = *cap ? *cap : 16;
	void *p;

	if (want <= *cap)
		return true;
	while (n < want)
		if (__builtin_mul_overflow(n, (size_t)2, &n))
			return false;
	p = reallocarray(*items, n, size);
	if (!p)
		return false;
	*items = p;
	*cap = n;
	return true;
}
