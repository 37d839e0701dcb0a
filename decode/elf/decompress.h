/* SPDX-License-Identifier: MIT */
/*
 * Unpacks gzip, xz and zstd: kernel modules as distributions ship them, and the section
 * .gnu_debugdata. A few bytes may expand to gigabytes. So each chunk is unpacked only if the memory
 * budget allows it.
 */
#ifndef PTC_DECODE_ELF_DECOMPRESS_H
#define PTC_DECODE_ELF_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Size limits of a packed file and of its contents. No kernel module is larger. */
#define PTC_PACKED_MAX	 ((uint64_t)64 << 20)
#define PTC_UNPACKED_MAX ((uint64_t)512 << 20)

/* An unpacked file: a private file in memory. */
struct ptc_unpacked {
	int fd;		/* owned; -1: none */
	uint64_t len;	/* of the file; counted in the memory budget */
	bool too_large; /* no file, because the contents exceed the memory budget */
};

/* Returns true if @fd begins like a packed file. */
bool ptc_is_packed(int fd);

/*
 * Unpacks all of @fd (lent), which has @len bytes. Returns false if it is damaged or too large, or
 * if out of memory.
 */
bool ptc_unpack(int fd, uint64_t len, struct ptc_unpacked *ret);
/* The same for @bytes. */
bool ptc_unpack_bytes(const uint8_t *bytes, size_t len, struct ptc_unpacked *ret);

/* Closes the file, if there is one. */
void ptc_unpacked_release(struct ptc_unpacked *u);

#endif
