/* SPDX-License-Identifier: MIT */
#include "decode/pokedpages.h"

#include <stdlib.h>

#include "decode/grow.h"

enum { PAGE_SHIFT = 12 };

void ptc_poked_pages_release(struct ptc_poked_pages *p)
{
	free(p->pages);
	*p = (struct ptc_poked_pages){ .n = 0 };
}

static uint64_t last_page(uint64_t addr, uint64_t len)
{
	const uint64_t end = len ? len - 1 : 0;

	return (end > UINT64_MAX - addr ? UINT64_MAX : addr + end) >> PAGE_SHIFT;
}

bool ptc_poked_pages_add(struct ptc_poked_pages *p, uint64_t addr, uint64_t len)
{
	const uint64_t last = last_page(addr, len);
	uint64_t page;

	for (page = addr >> PAGE_SHIFT; page <= last; page++) {
		if (p->n && p->pages[p->n - 1] == page)
			continue;
		if (!ptc_grow(&p->pages, &p->cap, p->n + 1, sizeof(*p->pages)))
			return false;
		p->sorted = p->sorted && (!p->n || p->pages[p->n - 1] < page);
		p->pages[p->n++] = page;
	}
	return true;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort(struct ptc_poked_pages *p)
{
	size_t i, n = 0;

	qsort(p->pages, p->n, sizeof(*p->pages), by_number);
	for (i = 0; i < p->n; i++)
		if (!n || p->pages[n - 1] != p->pages[i])
			p->pages[n++] = p->pages[i];
	p->n = n;
	p->sorted = true;
}

bool ptc_poked_pages_have(struct ptc_poked_pages *p, uint64_t addr, uint64_t len)
{
	const uint64_t first = addr >> PAGE_SHIFT;
	size_t lo = 0, hi, mid;

	if (!p->n)
		return false;
	if (!p->sorted)
		sort(p);
	hi = p->n;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (p->pages[mid] < first)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < p->n && p->pages[lo] <= last_page(addr, len);
}
