/* SPDX-License-Identifier: MIT */
/*
 * Bytes that arrive one after the other and must all be there in the end: in
 * memory while they are few, else in a temporary file that has no name, which
 * is then mapped. So memory stays bounded however many they are.
 */
#ifndef PTC_BASE_SPOOL_H
#define PTC_BASE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "ptcap/error.h"

#define PTC_SPOOL_MEMORY ((size_t)4 << 20) /* bytes; what is more goes to the file */

struct ptc_spool {
	struct ptc_buf mem; /* what is not (yet) in the file */
	uint64_t len;	    /* in all */
	void *map;	    /* the file, when finished; NULL: all is in mem */
	int fd;		    /* -1: none */
	bool is_memory;	    /* the file is in memory (tmpfs, memfd): it counts in the budget, */
	uint64_t held;	    /* so far */
};

#define PTC_SPOOL_INIT                                                                             \
	{                                                                                          \
		PTC_BUF_INIT, 0, NULL, -1, false, 0                                                \
	}

/*
 * Append. The file is made in $TMPDIR, else in /var/tmp or /tmp, readable by
 * nobody else. PTC_E_IO: the disk is full, or there is no such folder.
 */
int ptc_spool_put(struct ptc_spool *s, const void *bytes, size_t n, struct ptc_err *err);

/*
 * Nothing more is to come. *@ret: all @s->len bytes, which live until
 * ptc_spool_release; never NULL.
 */
int ptc_spool_finish(struct ptc_spool *s, const uint8_t **ret, struct ptc_err *err);

/* Accepts PTC_SPOOL_INIT. */
void ptc_spool_release(struct ptc_spool *s);

#endif
