/* SPDX-License-Identifier: MIT */
/* The GNU build-id of an ELF image, without libelf: capture needs it too. */
#ifndef PTC_BASE_ELFNOTE_H
#define PTC_BASE_ELFNOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/record.h"

/*
 * Find the NT_GNU_BUILD_ID note of a 64- or 32-bit little-endian ELF image
 * (elf(5)) through its PT_NOTE segments, or, of one that is not linked yet, its
 * SHT_NOTE sections. Returns 1 and fills *@ret, or 0 when
 * the image has none, is not ELF, or is damaged: a missing build-id is no error.
 */
int ptc_elf_build_id(const void *image, size_t len, struct ptc_build_id *ret);

/* The same for the file @fd, of @len bytes: read, not mapped, so that it may be cut meanwhile. */
int ptc_elf_build_id_fd(int fd, uint64_t len, struct ptc_build_id *ret);

/*
 * The same for a path, whose first @root bytes are its root (base/untrusted.h). A file that cannot
 * be read, or is no regular one, is an error.
 */
int ptc_elf_build_id_file(const char *path, size_t root, struct ptc_build_id *ret,
			  struct ptc_err *err);

/* The same for notes alone, as /sys/kernel/notes has them. */
int ptc_elf_build_id_notes(const void *notes, size_t len, struct ptc_build_id *ret);

/*
 * Are they one? perf pads shorter ids to 20 bytes with zeros: what both have
 * must agree, the rest be zero. An id of length 0 is like no other.
 */
bool ptc_build_id_same(const struct ptc_build_id *a, const struct ptc_build_id *b);

#endif
