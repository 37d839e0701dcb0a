/* SPDX-License-Identifier: MIT */
/* Where, and when, a recording has code of a process itself: the pages of its TEXT_POKEs. */
#ifndef PTC_DECODE_POKEDPAGES_H
#define PTC_DECODE_POKEDPAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_poked_page {
	uint64_t page, time;
};

/* A struct of zeros has none. */
struct ptc_poked_pages {
	struct ptc_poked_page *pages; /* owned */
	size_t n, cap;
	bool sorted;
};

void ptc_poked_pages_release(struct ptc_poked_pages *p);

/* Adds the pages of [addr, addr + len), as of @time. False: out of memory. */
bool ptc_poked_pages_add(struct ptc_poked_pages *p, uint64_t addr, uint64_t len, uint64_t time);

/* Was any page of [addr, addr + len) added as of a time from @since to @until? */
bool ptc_poked_pages_have(struct ptc_poked_pages *p, uint64_t addr, uint64_t len, uint64_t since,
			  uint64_t until);

#endif
