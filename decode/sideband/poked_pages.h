/* SPDX-License-Identifier: MIT */
/* The pages, with times, for which a recording itself has code of a process (TEXT_POKE records). */
#ifndef PTC_DECODE_SIDEBAND_POKED_PAGES_H
#define PTC_DECODE_SIDEBAND_POKED_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_poked_page {
	uint64_t page, time;
};

/* A zeroed struct is empty. */
struct ptc_poked_pages {
	struct ptc_poked_page *pages; /* owned */
	size_t n, cap;
	bool sorted;
};

void ptc_poked_pages_release(struct ptc_poked_pages *p);

/* Adds the pages of [addr, addr + len) with @time. Returns false if out of memory. */
bool ptc_poked_pages_add(struct ptc_poked_pages *p, uint64_t addr, uint64_t len, uint64_t time);

/* Returns true if a page of [addr, addr + len) was added with a time from @since to @until. */
bool ptc_poked_pages_have(struct ptc_poked_pages *p, uint64_t addr, uint64_t len, uint64_t since,
			  uint64_t until);

#endif
