/* SPDX-License-Identifier: MIT */
/*
 * What libelf and libdw will allocate for a file, known before they do it. They take sizes as the
 * file has them: of compressed sections, and of sections of a sparse file. They also unpack whole
 * files, so they get nothing but ELF files.
 */
#ifndef PTC_DECODE_ELFROOM_H
#define PTC_DECODE_ELFROOM_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/leftout.h"

enum ptc_elfroom_for {
	PTC_ELFROOM_NAMES, /* symbols: sections whose type says that libelf reads them */
	PTC_ELFROOM_DEBUG, /* libdw: any section */
};

/*
 * Bytes for the sections of the ELF file @fd (lent). UINT64_MAX: it is no little-endian ELF file,
 * or its section headers are not all there.
 */
uint64_t ptc_elfroom_needs(int fd, enum ptc_elfroom_for what);
/* The same of an image in memory. */
uint64_t ptc_elfroom_bytes_need(const uint8_t *bytes, size_t len, enum ptc_elfroom_for what);

/* Does the budget have room for it? If not, @left (may be NULL) gets a line about @file. */
bool ptc_elfroom_has(int fd, enum ptc_elfroom_for what, const char *file, struct ptc_leftout *left);

/* The same of @bytes for the @what ("names") of @file. */
bool ptc_elfroom_allows(uint64_t bytes, const char *what, const char *file,
			struct ptc_leftout *left);

/* elf_getdata, if there is room for the section. What is in it is as it is in the file. */
Elf_Data *ptc_elfroom_data(Elf_Scn *scn);

#endif
