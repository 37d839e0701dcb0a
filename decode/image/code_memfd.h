/* SPDX-License-Identifier: MIT */
/*
 * Memory for code bytes: a file without a name. libipt keeps decoded blocks only for code in files,
 * so it opens this file. Nobody can truncate the file while it is mapped.
 */
#ifndef PTC_DECODE_IMAGE_CODE_MEMFD_H
#define PTC_DECODE_IMAGE_CODE_MEMFD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limits: bytes that are kept in total; size of one piece, much of which is never filled; size of
 * all pieces together. With the last limit, the sizes that a recording claims leave address space
 * for everything else.
 */
#define PTC_CODE_MEMFD_MAX	 ((uint64_t)2 << 30)
#define PTC_CODE_MEMFD_PIECE_MAX ((uint64_t)64 << 30)
#define PTC_CODE_MEMFD_ROOM_MAX	 ((uint64_t)4 << 40)

/* Zeroed: nothing yet. */
struct ptc_code_memfd {
	int fd; /* valid if path is not empty */
	char path[32];
	bool tried;
	uint64_t next;	 /* offset of the next piece: size of all pieces so far */
	uint64_t filled; /* bytes filled in total */
};

/* A piece of this memory: zeros until it is filled. */
struct ptc_codepiece {
	uint8_t *bytes;
	size_t len;
	const char *path; /* lent: the file that contains it, at @off; NULL: memory only */
	uint64_t off;
};

/* Release all pieces first. */
void ptc_code_memfd_release(struct ptc_code_memfd *m);

/*
 * Allocate a piece of @len bytes (not 0). Returns false if out of memory, or if @len is over
 * PTC_CODE_MEMFD_PIECE_MAX. Also false if all pieces together would exceed PTC_CODE_MEMFD_ROOM_MAX.
 */
bool ptc_code_memfd_new(struct ptc_code_memfd *m, uint64_t len, struct ptc_codepiece *ret);
void ptc_codepiece_release(struct ptc_codepiece *p);

/*
 * Fill [off, off + len) inside @p from the file @fd at @src. Returns false if some of it could not
 * be read, or if PTC_CODE_MEMFD_MAX is reached.
 */
bool ptc_code_memfd_read(struct ptc_code_memfd *m, const struct ptc_codepiece *p, uint64_t off,
			 uint64_t len, int fd, uint64_t src);
/* Same, from memory. */
bool ptc_code_memfd_put(struct ptc_code_memfd *m, const struct ptc_codepiece *p, uint64_t off,
			const uint8_t *bytes, size_t len);
/* Call after filling: resets the file's times, because libipt must find the file unchanged. */
void ptc_code_memfd_settle(const struct ptc_code_memfd *m);

#endif
