/* SPDX-License-Identifier: MIT */
/*
 * Memory for tables that are looked into at random: each of their lines is one of the processor's
 * cache, and big ones have few pages, as far as the kernel has such.
 */
#ifndef PTC_DECODE_FAST_TABLE_H
#define PTC_DECODE_FAST_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* @bytes, all zeros, for free(). NULL: out of memory. */
void *ptc_fast_table_new(size_t bytes);
/* As ptc_grow. */
bool ptc_fast_table_grow(void *items, size_t *cap, size_t want, size_t size);

#endif
