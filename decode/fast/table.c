/* SPDX-License-Identifier: MIT */
#include "decode/fast/table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, HUGE_PAGE = 2 << 20, FIRST = 16 };

static void *get(size_t bytes)
{
	const size_t unit = bytes < HUGE_PAGE ? LINE : HUGE_PAGE;
	void *p;

	if (bytes > SIZE_MAX - unit)
		return NULL;
	bytes = (bytes + unit - 1) / unit * unit;
	p = aligned_alloc(unit, bytes);
	if (p && unit == HUGE_PAGE)
		(void)madvise(p, bytes, MADV_HUGEPAGE); /* without, it is slower */
	return p;
}

void *ptc_fast_table_new(size_t bytes)
{
	void *p = get(bytes);

	if (p)
		memset(p, 0, bytes);
	return p;
}

bool ptc_fast_table_grow(void *items, size_t *cap, size_t want, size_t size)
{
	size_t n = *cap ? *cap : FIRST, bytes;
	void *old, *p;

	if (want <= *cap)
		return true;
	while (n < want)
		if (__builtin_mul_overflow(n, 2, &n))
			return false;
	if (__builtin_mul_overflow(n, size, &bytes))
		return false;
	p = get(bytes);
	if (!p)
		return false;
	memcpy(&old, items, sizeof(old));
	if (*cap)
		memcpy(p, old, *cap * size);
	free(old);
	memcpy(items, &p, sizeof(p));
	*cap = n;
	return true;
}
