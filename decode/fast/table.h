/* SPDX-License-Identifier: MIT */
/*
 * Memory for tables that are looked into at random: each of their lines is one of the processor's
 * cache, and big ones have few pages, as far as the kernel has such. What grows does so where it
 * is, so that other threads may look into it meanwhile: it has address space for the most it can
 * become, and memory for what was used of it.
 */
#ifndef PTC_DECODE_FAST_TABLE_H
#define PTC_DECODE_FAST_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { PTC_FAST_ROOM_MIN = 2 << 20 }; /* bytes: a large page */

/* @bytes, all zeros, for ptc_fast_table_free with the same number. NULL: out of memory. */
void *ptc_fast_table_new(size_t bytes);
void ptc_fast_table_free(void *p, size_t bytes);

/*
 * As ptc_grow, but what there is stays where it is; @cap never passes @max, and more than that
 * cannot be had; sizes are those of the first time.
 */
bool ptc_fast_table_grow(void *items, size_t *cap, size_t want, size_t size, size_t max);
/* What that has made. */
void ptc_fast_table_drop(void *items, size_t cap, size_t size, size_t max);

/*
 * Address space for @max bytes, of which the first @bytes are there, all zeros. NULL: out of
 * memory.
 */
void *ptc_fast_room_new(size_t bytes, size_t max);
/* As many are there now, no fewer than before; those that are new are zeros. False: they are not.
 */
bool ptc_fast_room_grow(void *room, size_t bytes);
void ptc_fast_room_free(void *room, size_t max);

#endif
