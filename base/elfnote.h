/* SPDX-License-Identifier: MIT */
/* The GNU build-id of an ELF image, without libelf, because capture needs it too. */
#ifndef PTC_BASE_ELFNOTE_H
#define PTC_BASE_ELFNOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"
#include "ptcap/record.h"

/*
 * Find the NT_GNU_BUILD_ID note of a 64- or 32-bit little-endian ELF image (elf(5)) in its PT_NOTE
 * segments, or in the SHT_NOTE sections of an unlinked object. Returns 1 and fills *@ret. Returns 0
 * if the image has none, is not ELF, or is damaged: a missing build-id is not an error.
 */
int ptc_elf_build_id(const void *image, size_t len, struct ptc_build_id *ret);

/*
 * As ptc_elf_build_id, for the file @fd of @len bytes. The file is read, not mapped, so it may be
 * truncated during the call.
 */
int ptc_elf_build_id_fd(int fd, uint64_t len, struct ptc_build_id *ret);

/*
 * As ptc_elf_build_id, for a path whose first @root bytes are its root (base/untrusted.h). An
 * unreadable or non-regular file is an error.
 */
int ptc_elf_build_id_file(const char *path, size_t root, struct ptc_build_id *ret,
			  struct ptc_err *err);

/* As ptc_elf_build_id, for bare notes such as /sys/kernel/notes. */
int ptc_elf_build_id_notes(const void *notes, size_t len, struct ptc_build_id *ret);

/*
 * Return whether two build-ids are equal. perf pads shorter ids to 20 bytes with zeros, so the
 * common length must match and the rest must be zero. An id of length 0 equals no other.
 */
bool ptc_build_id_same(const struct ptc_build_id *a, const struct ptc_build_id *b);

#endif
