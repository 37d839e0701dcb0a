/* SPDX-License-Identifier: MIT */
/* Growing an array. All multiplications of a count by a size are here. */
#ifndef PTC_BASE_VEC_H
#define PTC_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Make space for @want elements of @size bytes in *@items, whose capacity is *@cap. Existing
 * elements keep their values; new ones are not initialized. Returns false, without changes, if out
 * of memory.
 */
bool ptc_vec_reserve(void **items, size_t *cap, size_t want, size_t size);

/* As ptc_vec_reserve, for elements of the size of a cache line: each is aligned to one line. */
enum { PTC_VEC_LINE = 64 };

bool ptc_vec_reserve_lines(void **items, size_t *cap, size_t want);

#endif
