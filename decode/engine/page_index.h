/* SPDX-License-Identifier: MIT */
/*
 * Finds the blocks that have code in a page. So a change of some code does not affect blocks of
 * other code. A block may be listed twice, or may be another one by now: the visitor has to check.
 */
#ifndef PTC_DECODE_ENGINE_PAGE_INDEX_H
#define PTC_DECODE_ENGINE_PAGE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_FAST_PAGE_BITS = 12 };

struct ptc_fast_page {
	uint64_t no;	/* address >> PTC_FAST_PAGE_BITS */
	uint32_t first; /* index in links; 0: none */
	bool used;
};

struct ptc_fast_link {
	uint32_t block;
	uint32_t next; /* next link of the same page; 0: none */
};

struct ptc_fast_pages {
	struct ptc_fast_page *table; /* owned; open addressing, 1 << bits; NULL: empty */
	unsigned int bits;
	size_t used;
	struct ptc_fast_link *links; /* owned; [1, nlinks) */
	size_t nlinks, links_cap;
};

void ptc_fast_pages_release(struct ptc_fast_pages *p);
void ptc_fast_pages_forget(struct ptc_fast_pages *p);
size_t ptc_fast_pages_bytes(const struct ptc_fast_pages *p);

/* Record that @block has code in page @no. Returns false if out of memory. */
bool ptc_fast_pages_add(struct ptc_fast_pages *p, uint64_t no, uint32_t block);

/* Visit the blocks of all pages of [start, end). @visit returns whether the block stays listed. */
typedef bool ptc_fast_visit(void *ctx, uint32_t block);
void ptc_fast_pages_visit(struct ptc_fast_pages *p, uint64_t start, uint64_t end,
			  ptc_fast_visit *visit, void *ctx);

#endif
