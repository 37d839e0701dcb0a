/* SPDX-License-Identifier: MIT */
/*
 * Computes what libdw allocates for the line table of a unit, before it does so. It allocates a row
 * for each byte of the program, and a path for each file, with the full name of its folder. DWARF
 * 5, section 6.2.
 */
#ifndef PTC_DECODE_SYMBOLS_LINE_TABLE_MEMORY_H
#define PTC_DECODE_SYMBOLS_LINE_TABLE_MEMORY_H

#include <stdint.h>

#include "base/cursor.h"

/* The sections of a file that line tables consist of. Empty: the file does not have it. */
struct ptc_line_sections {
	struct ptc_cur lines;	     /* .debug_line */
	struct ptc_cur line_strings; /* .debug_line_str */
	struct ptc_cur strings;	     /* .debug_str */
};

/*
 * Returns the bytes that the table at @off of s->lines needs, about. UINT64_MAX: libdw must not
 * read it.
 */
uint64_t ptc_linecost(const struct ptc_line_sections *s, uint64_t off);

#endif
