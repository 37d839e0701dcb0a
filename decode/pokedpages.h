/* SPDX-License-Identifier: MIT */
/* Where a recording has code of a process itself: the pages of its TEXT_POKEs. */
#ifndef PTC_DECODE_POKEDPAGES_H
#define PTC_DECODE_POKEDPAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A struct of zeros has none. */
struct ptc_poked_pages {
	uint64_t *pages; /* owned */
	size_t n, cap;
	bool sorted;
};

void ptc_poked_pages_release(struct ptc_poked_pages *p);

/* Adds the pages of [addr, addr + len). False: out of memory. */
bool ptc_poked_pages_add(struct ptc_poked_pages *p, uint64_t addr, uint64_t len);

/* Is any page of [addr, addr + len) among them? */
bool ptc_poked_pages_have(struct ptc_poked_pages *p, uint64_t addr, uint64_t len);

#endif
