/* SPDX-License-Identifier: MIT */
/*
 * Computes how much memory libelf and libdw will allocate for a file, before they do so. They trust
 * the sizes that a file has, of compressed sections and of sections of a sparse file. They also
 * unpack whole files, so they get ELF files only.
 */
#ifndef PTC_DECODE_ELF_ELF_MEMORY_H
#define PTC_DECODE_ELF_ELF_MEMORY_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/elf/omitted_data.h"

enum ptc_elf_memory_for {
	PTC_ELF_MEMORY_NAMES, /* symbols: sections of the types that libelf reads */
	PTC_ELF_MEMORY_DEBUG, /* libdw: any section */
};

/*
 * Returns the bytes needed for the sections of the ELF file @fd (lent). UINT64_MAX: not a
 * little-endian ELF file, or section headers are missing.
 */
uint64_t ptc_elf_memory_needs(int fd, enum ptc_elf_memory_for what);
/* Same, for an image in memory. */
uint64_t ptc_elf_memory_bytes_need(const uint8_t *bytes, size_t len, enum ptc_elf_memory_for what);

/*
 * Does the budget allow for the sections of @fd? If not, adds a line about @file to @left (may be
 * NULL).
 */
bool ptc_elf_memory_has(int fd, enum ptc_elf_memory_for what, const char *file,
			struct ptc_omitted_data *left);

/* Same, for @bytes for the @what ("names") of @file. */
bool ptc_elf_memory_allows(uint64_t bytes, const char *what, const char *file,
			   struct ptc_omitted_data *left);

/* Returns elf_getdata(), if the budget allows the section. The contents are as in the file. */
Elf_Data *ptc_elf_memory_data(Elf_Scn *scn);

#endif
