/* SPDX-License-Identifier: MIT */
/*
 * The described blocks of code, in memory that all processes of a recording share. Each distinct
 * block is stored once, even if several processes translate it. The plugin uses this too.
 *
 * An index finds the blocks. It has levels of buckets, and each level is twice as large as the one
 * before. A block is in the first of its buckets that had space. Entries never move and are never
 * removed. So there is no lock that a dying process could leave held, and memory is touched only as
 * it fills.
 */
#ifndef PTC_CAPTURE_EMU_BLOCK_STORE_H
#define PTC_CAPTURE_EMU_BLOCK_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "capture/emu/shm_protocol.h"

/* Returns the size of a segment whose arena has @arena_size bytes. */
uint64_t ptc_emu_segment_size(uint64_t arena_size);

/* Initialises the zeroed @sh with an empty arena of @arena_size bytes, whole pages. */
void ptc_emu_arena_init(struct ptc_emu_shared *sh, uint64_t arena_size);

/*
 * Returns the place of block @b with its @b->len bytes @code, and stores the block if it is new. 0:
 * the arena is full. Any process and thread may call it.
 */
uint32_t ptc_emu_arena_place(struct ptc_emu_shared *sh, const struct ptc_emu_block *b,
			     const uint8_t *code);

#endif
