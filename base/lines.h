/* SPDX-License-Identifier: MIT */
/* Lines of a text in memory. */
#ifndef PTC_BASE_LINES_H
#define PTC_BASE_LINES_H

#include <string.h>

/*
 * Returns the newline after @p, or @end. Large texts must be read with this function and not with
 * string functions of the C library. AddressSanitizer's strict_string_checks would read such a
 * string to its end at each call.
 */
static inline const char *ptc_line_end(const char *p, const char *end)
{
	const char *newline = memchr(p, '\n', (size_t)(end - p));

	return newline ? newline : end;
}

#endif
