/* SPDX-License-Identifier: MIT */
/* Growing an array: the one place that multiplies a count by a size. */
#ifndef PTC_BASE_VEC_H
#define PTC_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Make room for @want elements of @size bytes in *@items, whose capacity is
 * *@cap. Existing elements keep their values; new ones are not initialised.
 * Returns false, changing nothing, when out of memory.
 */
bool ptc_vec_reserve(void **items, size_t *cap, size_t want, size_t size);

/* The same, for those that are lines of the processor's cache: each is in one line, not in two. */
enum { PTC_VEC_LINE = 64 };

bool ptc_vec_reserve_lines(void **items, size_t *cap, size_t want);

#endif
