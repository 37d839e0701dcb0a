/* SPDX-License-Identifier: MIT */
/*
 * The functions of a unit, real and inlined, by the addresses of their code. DWARF 5, section 3.3:
 * DW_TAG_subprogram and DW_TAG_inlined_subroutine.
 */
#ifndef PTC_DECODE_SYMBOLS_INLINE_SCOPES_H
#define PTC_DECODE_SYMBOLS_INLINE_SCOPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/lookup.h"

#define PTC_INLINE_NONE SIZE_MAX

/* A real function, or a function inlined into another one. */
struct ptc_inline_scope {
	Dwarf_Off die; /* offset in .debug_info */
	size_t caller; /* index of the function that it is inlined into; PTC_INLINE_NONE: real */
	unsigned int depth; /* number of callers */

	bool named;	       /* the rest was read */
	const char *name;      /* lent by the Dwarf, or same as owned; NULL: not known */
	char *owned;	       /* demangled name, or NULL */
	const char *call_file; /* of the call that was inlined; lent by the Dwarf; or NULL */
	int call_line;
};

/* Code from @start to the next segment. */
struct ptc_inline_segment {
	uint64_t start;
	size_t scope; /* index of the innermost function; PTC_INLINE_NONE: none */
};

struct ptc_inline_scopes {
	struct ptc_inline_scope *v; /* owned; callers before the functions inlined into them */
	size_t n, cap;
	struct ptc_inline_segment *segments; /* owned; by ascending start */
	size_t nsegments, segments_cap;
};

/*
 * Reads the functions of the unit with the DIE @unit. @s must be zeroed. Caller releases @s.
 * *@code counts the ranges of code that were read from the file, and starts at 0.
 * Returns false without memory, or if the file has too many ranges, and leaves @s empty. If the
 * DIEs are no proper tree, @s is empty. Functions nested too deep are left out: their code belongs
 * to the function around them. Time: proportional to the size of the unit times the average depth
 * of its tree, which is limited.
 */
bool ptc_inline_scopes_read(struct ptc_inline_scopes *s, Dwarf_Die *unit, size_t *code);
void ptc_inline_scopes_release(struct ptc_inline_scopes *s);

/* Returns the innermost function at @addr, an address in the Dwarf, or NULL. */
struct ptc_inline_scope *ptc_inline_scopes_find(const struct ptc_inline_scopes *s, uint64_t addr);

#endif
