/* SPDX-License-Identifier: MIT */
/*
 * What libdw allocates for the line table of a unit, known before it does so: a row for each byte
 * of the program, and a path for each file, however long its folder's is. DWARF 5, section 6.2.
 */
#ifndef PTC_DECODE_LINECOST_H
#define PTC_DECODE_LINECOST_H

#include <stdint.h>

#include "base/cursor.h"

/* The sections of a file that tables of lines are made of; empty: it has none. */
struct ptc_line_sections {
	struct ptc_cur lines;	     /* .debug_line */
	struct ptc_cur line_strings; /* .debug_line_str */
	struct ptc_cur strings;	     /* .debug_str */
};

/* Bytes that the table at @off of s->lines takes, about. UINT64_MAX: it is not for libdw. */
uint64_t ptc_linecost(const struct ptc_line_sections *s, uint64_t off);

#endif
