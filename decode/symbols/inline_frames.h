/* SPDX-License-Identifier: MIT */
/* Finds the functions that the compiler has inlined at an address, from the debug information. */
#ifndef PTC_DECODE_SYMBOLS_INLINE_FRAMES_H
#define PTC_DECODE_SYMBOLS_INLINE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/symbols/inline_scopes.h"

struct ptc_units;

/* The functions of the units that were looked up. Zeroed: none. */
struct ptc_inline_units {
	struct ptc_inline_unit *v; /* owned */
	size_t n;
	size_t code; /* ranges of code that were read */
};

/*
 * Finds the functions at @addr, an address in the Dwarf of @u. Returns their number, and the
 * functions in @frames: the innermost first, the real function last. 0: not known, or the debug
 * information is broken. 1: nothing is inlined there. The first function is at the line of @addr,
 * each other function at the line of the call that was inlined. @iu belongs to @u in all calls.
 * Names are lent until release, or until the Dwarf ends. Split debug information (.dwo) is not
 * read. Units without enough memory are reported to @u->left.
 */
size_t ptc_inline_frames_find(struct ptc_inline_units *iu, struct ptc_units *u, uint64_t addr,
			      bool mangled, struct ptc_inline_frame frames[PTC_INLINE_MAX]);
void ptc_inline_units_release(struct ptc_inline_units *iu);

#endif
