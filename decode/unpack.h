/* SPDX-License-Identifier: MIT */
/*
 * What is packed by gzip, xz or zstd: kernel modules as distributions ship them, and the section
 * .gnu_debugdata. A few bytes may stand for gigabytes, so each piece is unpacked only if the memory
 * budget has room for it.
 */
#ifndef PTC_DECODE_UNPACK_H
#define PTC_DECODE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A packed file may be that large, and what is in it. No kernel module is larger. */
#define PTC_PACKED_MAX	 ((uint64_t)64 << 20)
#define PTC_UNPACKED_MAX ((uint64_t)512 << 20)

/* What was unpacked: a file in memory that nobody else has. */
struct ptc_unpacked {
	int fd;		/* owned; -1: nothing */
	uint64_t len;	/* of it; counted in the memory budget */
	bool too_large; /* nothing, because it is larger than what memory there is */
};

/* Does @fd begin as a packed file does? */
bool ptc_is_packed(int fd);

/* Unpacks all of @fd (lent), which has @len bytes. False: damaged, too large, or no memory. */
bool ptc_unpack(int fd, uint64_t len, struct ptc_unpacked *ret);
/* The same of @bytes. */
bool ptc_unpack_bytes(const uint8_t *bytes, size_t len, struct ptc_unpacked *ret);

/* Closes it, if there is something. */
void ptc_unpacked_release(struct ptc_unpacked *u);

#endif
