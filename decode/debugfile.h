/* SPDX-License-Identifier: MIT */
/* Symbols that were taken out of a file: into another one, or packed into itself. */
#ifndef PTC_DECODE_DEBUGFILE_H
#define PTC_DECODE_DEBUGFILE_H

#include <libelf.h>
#include <stdbool.h>

#include "decode/search.h"

struct ptc_leftout;
struct ptc_unpacked;

/* What .gnu_debuglink of @elf says; an empty name: nothing. */
void ptc_debugfile_link(Elf *elf, struct ptc_debuglink *ret);

/*
 * The ELF file that is packed into .gnu_debugdata of @elf, which is @file: the symbols of a file
 * whose others were taken out. The caller releases *@ret. False: there is none, or no memory for
 * it, which @left is told.
 */
bool ptc_debugfile_mini(Elf *elf, const char *file, struct ptc_leftout *left,
			struct ptc_unpacked *ret);

#endif
