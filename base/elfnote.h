/* SPDX-License-Identifier: MIT */
/* The GNU build-id of an ELF image, without libelf: capture needs it too. */
#ifndef PTC_BASE_ELFNOTE_H
#define PTC_BASE_ELFNOTE_H

#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/record.h"

/*
 * Find the NT_GNU_BUILD_ID note of a 64- or 32-bit little-endian ELF image
 * (elf(5)) through its PT_NOTE segments. Returns 1 and fills *@ret, or 0 when
 * the image has none, is not ELF, or is damaged: a missing build-id is no error.
 */
int ptc_elf_build_id(const void *image, size_t len, struct ptc_build_id *ret);

/* The same for a file; a file that cannot be read is an error. */
int ptc_elf_build_id_file(const char *path, struct ptc_build_id *ret, struct ptc_err *err);

#endif
