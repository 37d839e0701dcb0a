/* SPDX-License-Identifier: MIT */
/* Bytes in which one number at a time is replaced. */
#ifndef PTC_TESTS_LIB_NUMBERS_H
#define PTC_TESTS_LIB_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Calls @try with copies of @bytes, each at the end of its allocation: first unchanged, then with
 * one number replaced. The number has 2, 4 or 8 bytes, at each even position. It becomes 0, 1, one
 * less, one more, the largest, or the largest signed value. Equal results are tried only once. Out
 * of memory aborts.
 */
void nb_each(const uint8_t *bytes, size_t len,
	     void (*try)(const void *ctx, const uint8_t *bytes, size_t len), const void *ctx);

#endif
