/* SPDX-License-Identifier: MIT */
/*
 * Which blocks have code in a page: so that a change of some code leaves alone what is made of
 * other code. A block may be named twice, or be another one by now: who looks it up has to see for
 * itself.
 */
#ifndef PTC_DECODE_FAST_PAGES_H
#define PTC_DECODE_FAST_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_FAST_PAGE_BITS = 12 };

struct ptc_fast_page {
	uint64_t no;	/* address >> PTC_FAST_PAGE_BITS */
	uint32_t first; /* of links; 0: none */
	bool used;
};

struct ptc_fast_link {
	uint32_t block;
	uint32_t next; /* of the same page; 0: none */
};

struct ptc_fast_pages {
	struct ptc_fast_page *table; /* owned; open addressing, 1 << bits; NULL: nothing yet */
	unsigned int bits;
	size_t used;
	struct ptc_fast_link *links; /* owned; [1, nlinks) */
	size_t nlinks, links_cap;
};

void ptc_fast_pages_release(struct ptc_fast_pages *p);
void ptc_fast_pages_forget(struct ptc_fast_pages *p);
size_t ptc_fast_pages_bytes(const struct ptc_fast_pages *p);

/* @block has code in page @no. False: out of memory. */
bool ptc_fast_pages_add(struct ptc_fast_pages *p, uint64_t no, uint32_t block);

/*
 * Visit the blocks of all pages of [start, end): @visit says whether the block stays where it is.
 */
typedef bool ptc_fast_visit(void *ctx, uint32_t block);
void ptc_fast_pages_visit(struct ptc_fast_pages *p, uint64_t start, uint64_t end,
			  ptc_fast_visit *visit, void *ctx);

#endif
