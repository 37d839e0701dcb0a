/* SPDX-License-Identifier: MIT */
/* Kernel modules as distributions ship them: ELF files packed by gzip, xz, bzip2 or zstd. */
#ifndef PTC_DECODE_UNPACK_H
#define PTC_DECODE_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

/* A packed file may be that large, and what is in it. */
#define PTC_PACKED_MAX	 ((uint64_t)64 << 20)
#define PTC_UNPACKED_MAX ((size_t)512 << 20)

/* Does @fd begin as a packed file does? */
bool ptc_is_packed(int fd);

/*
 * The ELF file that is packed in @fd (lent; of @len bytes), in memory: a
 * descriptor, the caller's to close. -1: there is none, or no memory.
 */
int ptc_unpack(int fd, uint64_t len, uint64_t *ret_len);

#endif
