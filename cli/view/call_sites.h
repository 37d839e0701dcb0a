/* SPDX-License-Identifier: MIT */
/* Numbers for places of code, such as calls, with their functions and source lines. */
#ifndef PTC_CLI_VIEW_CALL_SITES_H
#define PTC_CLI_VIEW_CALL_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "cli/common/number_index.h"
#include "cli/common/string_pool.h"
#include "cli/view/view_sources.h"
#include "ptcap/decode.h"

/* A place in the code. Equal places in several processes are one. */
struct ptc_call_site {
	uint32_t file;	   /* as recorded; number in @texts; 0: not known */
	uint64_t off;	   /* in the file; without a file the address */
	uint64_t in_func;  /* offset in its function; UINT64_MAX: not known */
	uint32_t function; /* its name; number in @texts; 0: not known */
	uint32_t source;   /* number in @texts; 0: not known */
	int line;
};

struct ptc_call_sites {
	struct ptc_decode *d;		  /* borrowed */
	struct ptc_names *texts;	  /* borrowed; file names */
	struct ptc_view_sources *sources; /* borrowed; gets the source files */
	struct ptc_call_site *v;	  /* owned; the first has number 1 */
	size_t n, cap;
	struct ptc_number_index index;
	struct ptc_site_seen *seen; /* owned; numbers of addresses, the most recent ones */
};

/* Returns false if out of memory. Nothing needs a release then. */
bool ptc_call_sites_init(struct ptc_call_sites *s, struct ptc_decode *d, struct ptc_names *texts,
			 struct ptc_view_sources *sources);
void ptc_call_sites_release(struct ptc_call_sites *s);

/*
 * Returns the number of the place @ip in the process of @item; 0: @ip is 0; UINT32_MAX: out of
 * memory. To be called inside on_items.
 */
uint32_t ptc_call_sites_number(struct ptc_call_sites *s, const struct ptc_item *item, uint64_t ip);

#endif
