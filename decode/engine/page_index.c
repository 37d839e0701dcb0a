/* SPDX-License-Identifier: MIT */
#include "decode/engine/page_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { FIRST_BITS = 6 };

void ptc_fast_pages_release(struct ptc_fast_pages *p)
{
	free(p->table);
	free(p->links);
	*p = (struct ptc_fast_pages){ .nlinks = 0 };
}

void ptc_fast_pages_forget(struct ptc_fast_pages *p)
{
	if (p->table)
		memset(p->table, 0, sizeof(*p->table) << p->bits);
	p->used = 0;
	p->nlinks = 1;
}

size_t ptc_fast_pages_bytes(const struct ptc_fast_pages *p)
{
	return (p->table ? sizeof(*p->table) << p->bits : 0) + p->links_cap * sizeof(*p->links);
}

/* Returns the page, or the free entry where it belongs. There is a free entry. */
static struct ptc_fast_page *find_page_entry(struct ptc_fast_page *table, unsigned int bits,
					     uint64_t no)
{
	const size_t mask = ((size_t)1 << bits) - 1;
	size_t i = (size_t)(no * 0x9e3779b97f4a7c15 >> (64 - bits));

	while (table[i].used && table[i].no != no)
		i = (i + 1) & mask;
	return &table[i];
}

static bool grow_page_index(struct ptc_fast_pages *p)
{
	const unsigned int bits = p->table ? p->bits + 1 : FIRST_BITS;
	struct ptc_fast_page *table = calloc((size_t)1 << bits, sizeof(*table));
	size_t i;

	if (!table)
		return false;
	for (i = 0; p->table && i >> p->bits == 0; i++)
		if (p->table[i].used)
			*find_page_entry(table, bits, p->table[i].no) = p->table[i];
	free(p->table);
	p->table = table;
	p->bits = bits;
	return true;
}

bool ptc_fast_pages_add(struct ptc_fast_pages *p, uint64_t no, uint32_t block)
{
	struct ptc_fast_page *page;

	if ((!p->table || p->used * 2 >> p->bits) && !grow_page_index(p))
		return false;
	if (!ptc_grow(&p->links, &p->links_cap, p->nlinks + 2, sizeof(*p->links)))
		return false;
	if (!p->nlinks)
		p->nlinks = 1;
	page = find_page_entry(p->table, p->bits, no);
	p->used += !page->used;
	p->links[p->nlinks] = (struct ptc_fast_link){ block, page->first };
	*page = (struct ptc_fast_page){ .no = no, .used = true, .first = (uint32_t)p->nlinks++ };
	return true;
}

static void visit_page(struct ptc_fast_pages *p, struct ptc_fast_page *page, ptc_fast_visit *visit,
		       void *ctx)
{
	uint32_t *at = &page->first;

	while (*at)
		if (visit(ctx, p->links[*at].block))
			at = &p->links[*at].next;
		else
			*at = p->links[*at].next;
}

void ptc_fast_pages_visit(struct ptc_fast_pages *p, uint64_t start, uint64_t end,
			  ptc_fast_visit *visit, void *ctx)
{
	const uint64_t first = start >> PTC_FAST_PAGE_BITS, last = (end - 1) >> PTC_FAST_PAGE_BITS;
	uint64_t no;
	size_t i;

	if (start >= end || !p->used)
		return;
	if (last - first < p->used) {
		for (no = first; no <= last; no++)
			visit_page(p, find_page_entry(p->table, p->bits, no), visit, ctx);
		return;
	}
	for (i = 0; i >> p->bits == 0; i++)
		if (p->table[i].used && p->table[i].no >= first && p->table[i].no <= last)
			visit_page(p, &p->table[i], visit, ctx);
}
