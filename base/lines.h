/* SPDX-License-Identifier: MIT */
/* Lines of a text in memory. */
#ifndef PTC_BASE_LINES_H
#define PTC_BASE_LINES_H

#include <string.h>

/*
 * Returns the newline behind @p, or @end. Texts of megabytes are read with this and not with the C
 * library's functions for strings: AddressSanitizer's strict_string_checks reads a string to its
 * end at each call.
 */
static inline const char *ptc_line_end(const char *p, const char *end)
{
	const char *newline = memchr(p, '\n', (size_t)(end - p));

	return newline ? newline : end;
}

#endif
