/* SPDX-License-Identifier: MIT */
/*
 * The blocks of code that were described, in memory that all processes of a
 * recording share: each distinct one once, however often and by however many of
 * them it is translated. Used by the plugin, too.
 *
 * An index says where a block is. It has levels of buckets, each level twice as
 * large as the one before; a block is in the first of its buckets that had room.
 * Nothing moves and nothing is taken out, so there is no lock that a process could
 * die with, and memory is touched as it fills.
 */
#ifndef PTC_CAPTURE_EMU_ARENA_H
#define PTC_CAPTURE_EMU_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "capture/emu/wire.h"

/* Bytes of a segment whose arena has @arena_size. */
uint64_t ptc_emu_segment_size(uint64_t arena_size);

/* @sh, of zeros: its arena has @arena_size bytes, whole pages, and is empty. */
void ptc_emu_arena_init(struct ptc_emu_shared *sh, uint64_t arena_size);

/*
 * The place of the block @b, whose @b->len bytes of code are @code: where it is
 * already, or now. 0: the arena is full. Any process and thread.
 */
uint32_t ptc_emu_arena_place(struct ptc_emu_shared *sh, const struct ptc_emu_block *b,
			     const uint8_t *code);

#endif
