/* SPDX-License-Identifier: MIT */
/* Endings of English plurals in messages: "1 byte", "2 bytes", "1 branch", "2 branches". */
#ifndef PTC_BASE_PLURAL_H
#define PTC_BASE_PLURAL_H

#include <stdint.h>

/* Returns what a noun ends with behind the number @n: "" or "s". */
static inline const char *ptc_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Returns the same for nouns such as "branch" and "process": "" or "es". */
static inline const char *ptc_plural_es(uint64_t n)
{
	return n == 1 ? "" : "es";
}

#endif
