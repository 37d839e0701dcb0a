/* SPDX-License-Identifier: MIT */
/* Bytes in which one number at a time is another one. */
#ifndef PTC_TESTS_LIB_NUMBERS_H
#define PTC_TESTS_LIB_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Call @try with a copy of @bytes, whose end is the allocation's: as they are,
 * and with a number of 2, 4 or 8 bytes that is 0, 1, one less, one more, the
 * largest, or the largest with a sign, at each even place, for each size. What
 * two of these make of one place is tried once. Out of memory aborts.
 */
void nb_each(const uint8_t *bytes, size_t len,
	     void (*try)(const void *ctx, const uint8_t *bytes, size_t len), const void *ctx);

#endif
