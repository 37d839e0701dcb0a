/* SPDX-License-Identifier: MIT */
/* Symbols that were stripped from a file: kept in another file, or packed into a section. */
#ifndef PTC_DECODE_ELF_DEBUGFILE_H
#define PTC_DECODE_ELF_DEBUGFILE_H

#include <libelf.h>
#include <stdbool.h>

#include "decode/elf/file_search.h"

struct ptc_omitted_data;
struct ptc_unpacked;

/* Read .gnu_debuglink of @elf. Empty name: there is none. */
void ptc_debugfile_link(Elf *elf, struct ptc_debuglink *ret);

/*
 * Unpack the ELF file in .gnu_debugdata of @elf, which is @file: symbols of a stripped file. Caller
 * releases *@ret. Returns false if there is none. Also false if memory is missing: then @left gets
 * a line.
 */
bool ptc_debugfile_mini(Elf *elf, const char *file, struct ptc_omitted_data *left,
			struct ptc_unpacked *ret);

#endif
