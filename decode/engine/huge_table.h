/* SPDX-License-Identifier: MIT */
/*
 * Memory for tables with random access. Tables are aligned to the cache lines of the processor.
 * Large tables use large pages, as far as the kernel has them. A table grows in place, so that
 * other threads may read it at the same time. It reserves address space for its largest size, and
 * has memory for the used part.
 */
#ifndef PTC_DECODE_ENGINE_HUGE_TABLE_H
#define PTC_DECODE_ENGINE_HUGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

enum { PTC_FAST_ROOM_MIN = 2 << 20 }; /* bytes of a large page */

/*
 * Allocate @bytes zeros. Free them with ptc_fast_table_free and the same @bytes. NULL: out of
 * memory.
 */
void *ptc_fast_table_new(size_t bytes);
void ptc_fast_table_free(void *p, size_t bytes);

/*
 * Same as ptc_grow, but the elements stay where they are. @cap never exceeds @max: more is not
 * available. @size and @max are those of the first call.
 */
bool ptc_fast_table_grow(void *items, size_t *cap, size_t want, size_t size, size_t max);
/* Release the memory of ptc_fast_table_grow. */
void ptc_fast_table_drop(void *items, size_t cap, size_t size, size_t max);

/*
 * Reserve address space for @max bytes. The first @bytes are usable and zero. NULL: out of memory.
 */
void *ptc_fast_room_new(size_t bytes, size_t max);
/*
 * Make the first @bytes usable, no fewer than before. New bytes are zero. Returns false if that is
 * not possible.
 */
bool ptc_fast_room_grow(void *room, size_t bytes);
void ptc_fast_room_free(void *room, size_t max);

#endif
