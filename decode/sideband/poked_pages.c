/* SPDX-License-Identifier: MIT */
#include "decode/sideband/poked_pages.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/sorted.h"

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

bool ptc_poked_pages_add(struct ptc_poked_pages *p, uint64_t addr, uint64_t len, uint64_t time)
{
	const uint64_t last = last_page(addr, len);
	uint64_t page;

	for (page = addr >> PAGE_SHIFT; page <= last; page++) {
		if (p->n && p->pages[p->n - 1].page == page && p->pages[p->n - 1].time == time)
			continue;
		if (!ptc_grow(&p->pages, &p->cap, p->n + 1, sizeof(*p->pages)))
			return false;
		p->pages[p->n++] = (struct ptc_poked_page){ page, time };
		p->sorted = false;
	}
	return true;
}

static int by_number(const void *pa, const void *pb)
{
	const struct ptc_poked_page *a = pa, *b = pb;

	if (a->page != b->page)
		return a->page < b->page ? -1 : 1;
	return a->time < b->time ? -1 : a->time > b->time;
}

static void sort(struct ptc_poked_pages *p)
{
	qsort(p->pages, p->n, sizeof(*p->pages), by_number);
	p->sorted = true;
}

/* Returns the first element not in front of @page at @time. */
static size_t lower(const struct ptc_poked_pages *p, uint64_t page, uint64_t time)
{
	const struct ptc_poked_page key = { page, time };

	return PTC_PARTITION_POINT(i, 0, p->n, by_number(&p->pages[i], &key) < 0);
}

bool ptc_poked_pages_have(struct ptc_poked_pages *p, uint64_t addr, uint64_t len, uint64_t since,
			  uint64_t until)
{
	const uint64_t last = last_page(addr, len);
	uint64_t page = addr >> PAGE_SHIFT;
	size_t i;

	if (!p->n)
		return false;
	if (!p->sorted)
		sort(p);
	/* Skips from one known page to the next. */
	for (i = lower(p, page, since); i < p->n && p->pages[i].page <= last;
	     i = lower(p, page, since)) {
		if (p->pages[i].time >= since && p->pages[i].time <= until)
			return true;
		page = p->pages[i].page + (p->pages[i].time >= since);
		if (!page)
			break;
	}
	return false;
}
