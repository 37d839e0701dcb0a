/* SPDX-License-Identifier: MIT */
/*
 * Selects the parts of an ELF file that a bundle of the reached code needs: its headers, notes,
 * symbols, and the pages whose code was read. Sections with debug information become sections
 * without contents (SHT_NOBITS), as strip(1) makes them.
 */
#ifndef PTC_DECODE_ARCHIVE_KEPT_PARTS_H
#define PTC_DECODE_ARCHIVE_KEPT_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_omitted_data;
struct ptc_partial;

enum { PTC_KEPT_PAGE = 4096 };

struct ptc_kept_wanted {
	const uint64_t *pages; /* lent; one bit per page of the file; NULL: no page */
	uint64_t npages;
	/* all data, and call frame information: stacks of a saved process lead through the file */
	bool unwinds;
};

/*
 * Select the parts of the ELF file @fd (lent), which has @len bytes and is called @name. Returns 1
 * and sets *@ret, owned by the caller; 0: only the whole file will do, because it has no section
 * headers or libelf cannot read it. PTC_E_NO_MEMORY.
 *
 * A page of an executable segment is kept as a whole, or not at all. So a page of zeros is a page
 * that the bundle lacks.
 */
int ptc_kept_parts(int fd, uint64_t len, const char *name, const struct ptc_kept_wanted *wanted,
		   struct ptc_partial **ret);

#endif
