/* SPDX-License-Identifier: MIT */
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"

/* Returns the new capacity for @want elements. 0: overflow. */
static size_t enough(size_t cap, size_t want)
{
	size_t n = cap ? cap : 16;

	while (n < want)
		if (__builtin_mul_overflow(n, (size_t)2, &n))
			return 0;
	return n;
}

/* Arrays up to this size bypass the budget, so that errors can still be reported. */
enum { SMALL = 1 << 14 };

/* Return whether the budget allows @n elements of @size bytes instead of @had. */
static bool is_allowed(size_t n, size_t had, size_t size)
{
	size_t bytes;

	return !__builtin_mul_overflow(n, size, &bytes) &&
	       (bytes <= SMALL || ptc_budget_allows((n - had) * size));
}

bool ptc_vec_reserve(void **items, size_t *cap, size_t want, size_t size)
{
	size_t n;
	void *p;

	if (want <= *cap)
		return true;
	n = enough(*cap, want);
	if (!n || !is_allowed(n, *cap, size))
		return false;
	p = reallocarray(*items, n, size);
	if (!p)
		return false;
	*items = p;
	*cap = n;
	return true;
}

bool ptc_vec_reserve_lines(void **items, size_t *cap, size_t want)
{
	size_t n, bytes;
	void *p;

	if (want <= *cap)
		return true;
	n = enough(*cap, want);
	if (!n || __builtin_mul_overflow(n, (size_t)PTC_VEC_LINE, &bytes) ||
	    !is_allowed(n, 0, PTC_VEC_LINE))
		return false;
	p = aligned_alloc(PTC_VEC_LINE, bytes);
	if (!p)
		return false;
	if (*cap)
		memcpy(p, *items, *cap * PTC_VEC_LINE);
	free(*items);
	*items = p;
	*cap = n;
	return true;
}
