/* SPDX-License-Identifier: MIT */
/*
 * Collects bytes that arrive in sequence, and gives access to all of them at the end. Few bytes
 * stay in memory. More go to a nameless temporary file, which is then mapped, so that memory is
 * bounded.
 */
#ifndef PTC_BASE_SPOOL_H
#define PTC_BASE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "ptcap/error.h"

#define PTC_SPOOL_MEMORY ((size_t)4 << 20) /* bytes kept in memory before the file is used */

struct ptc_spool {
	struct ptc_buf mem; /* bytes that are not (yet) in the file */
	uint64_t len;	    /* total */
	void *map;	    /* the mapped file, after finish; NULL: all bytes are in mem */
	int fd;		    /* -1: none */
	bool is_memory;	    /* the file is in memory (tmpfs, memfd), so it counts in the budget */
	uint64_t held;	    /* bytes counted in the budget so far */
};

#define PTC_SPOOL_INIT                                                                             \
	{                                                                                          \
		PTC_BUF_INIT, 0, NULL, -1, false, 0                                                \
	}

/*
 * Create a file without a name in $TMPDIR, or else in /var/tmp or /tmp, with access for this user
 * only. *@ret_is_memory: the file is in memory (tmpfs, memfd), so it counts in the budget. Caller
 * closes *@ret_fd. PTC_E_IO: there is no such folder.
 */
int ptc_nameless_file(int *ret_fd, bool *ret_is_memory, struct ptc_err *err);

/*
 * Append bytes. The file is created in $TMPDIR, or else in /var/tmp or /tmp, with access for this
 * user only. PTC_E_IO: the disk is full, or there is no such folder.
 */
int ptc_spool_put(struct ptc_spool *s, const void *bytes, size_t n, struct ptc_err *err);

/* Finish writing. *@ret: all @s->len bytes, valid until ptc_spool_release; never NULL. */
int ptc_spool_finish(struct ptc_spool *s, const uint8_t **ret, struct ptc_err *err);

/*
 * Write @bytes to a nameless file, for code that reads from a descriptor. @s must be empty. @s->fd
 * is the file until ptc_spool_release.
 */
int ptc_spool_file(struct ptc_spool *s, const void *bytes, size_t n, struct ptc_err *err);

/* Free all resources. Accepts PTC_SPOOL_INIT. */
void ptc_spool_release(struct ptc_spool *s);

#endif
