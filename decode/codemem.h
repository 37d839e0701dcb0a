/* SPDX-License-Identifier: MIT */
/*
 * Memory for code bytes. It is a file without a name, so that libipt, which
 * keeps decoded blocks only of what is in files, can open it, and so that
 * nobody can cut it short while it is mapped.
 */
#ifndef PTC_DECODE_CODEMEM_H
#define PTC_DECODE_CODEMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes that may be kept in all; the largest single piece, much of which is never filled; all
 * pieces together, so that sizes that a recording claims leave addresses for everything else.
 */
#define PTC_CODEMEM_MAX	      ((uint64_t)2 << 30)
#define PTC_CODEMEM_PIECE_MAX ((uint64_t)64 << 30)
#define PTC_CODEMEM_ROOM_MAX  ((uint64_t)4 << 40)

/* Zeroed: nothing yet. */
struct ptc_codemem {
	int fd; /* valid if path is not empty */
	char path[32];
	bool tried;
	uint64_t next;	 /* where the next piece begins: all pieces so far */
	uint64_t filled; /* bytes in all */
};

/* A piece: zeros until it is filled. */
struct ptc_codepiece {
	uint8_t *bytes;
	size_t len;
	const char *path; /* lent: the file that holds it, at @off; NULL: memory alone */
	uint64_t off;
};

/* All pieces must be gone. */
void ptc_codemem_release(struct ptc_codemem *m);

/*
 * Room for @len bytes (not 0). False: out of memory, larger than PTC_CODEMEM_PIECE_MAX, or more
 * than PTC_CODEMEM_ROOM_MAX with all pieces before.
 */
bool ptc_codemem_new(struct ptc_codemem *m, uint64_t len, struct ptc_codepiece *ret);
void ptc_codepiece_release(struct ptc_codepiece *p);

/*
 * Fill [off, off + len) of @p, inside it, from the file @fd at @src. False:
 * not all of it could be read, or PTC_CODEMEM_MAX is reached.
 */
bool ptc_codemem_read(struct ptc_codemem *m, const struct ptc_codepiece *p, uint64_t off,
		      uint64_t len, int fd, uint64_t src);
/* The same from memory. */
bool ptc_codemem_put(struct ptc_codemem *m, const struct ptc_codepiece *p, uint64_t off,
		     const uint8_t *bytes, size_t len);
/* Everything of a round of filling is in: libipt must find the file unchanged from now on. */
void ptc_codemem_settle(const struct ptc_codemem *m);

#endif
