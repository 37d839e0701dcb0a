/* SPDX-License-Identifier: MIT */
/* The parts of a file that the decode used. */
#ifndef PTC_DECODE_ARCHIVE_REACHED_PARTS_H
#define PTC_DECODE_ARCHIVE_REACHED_PARTS_H

#include <stdbool.h>

struct ptc_codefile;
struct ptc_decode;
struct ptc_partial;

/* Call before the decode runs. Returns false if out of memory. */
bool ptc_reached_parts_begin(struct ptc_decode *d);

/*
 * Select the parts of the ELF file @fd (lent), which is called @name: names, and the pages that the
 * decode used of @f and of other objects for the same file (ptc_used_pages_begin). @f NULL: it
 * is a debug file, without code. @unwinds: stacks lead through the file. Returns 1 and sets *@ret,
 * owned by the caller; 0: the whole file is needed; PTC_E_NO_MEMORY.
 */
int ptc_reached_parts(const struct ptc_codefile *f, int fd, bool unwinds, const char *name,
		      struct ptc_partial **ret);

#endif
