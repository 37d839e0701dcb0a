/* SPDX-License-Identifier: MIT */
/* Unpacking a tar archive packed by zstd, member by member, within limits. */
#ifndef PTC_AUXTRACE_BUNDLE_UNPACK_H
#define PTC_AUXTRACE_BUNDLE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

struct ptc_unpack;

/* A member. */
struct ptc_unpack_member {
	const char *name; /* lent until the next member; as the archive has it */
	uint64_t size;
};

/*
 * Begin to unpack @bytes (lent) to at most @max bytes. The caller frees *@ret, also after a failure
 * if it is not NULL.
 */
int ptc_unpack_new(const void *bytes, size_t len, uint64_t max, struct ptc_unpack **ret,
		   struct ptc_err *err);
void ptc_unpack_free(struct ptc_unpack *u);

/*
 * Read the header of the next member. Returns 1; 0 at the end of the archive, after which only
 * zeros may follow. PTC_E_FORMAT: the archive is damaged, or the member is no regular file.
 */
int ptc_unpack_next(struct ptc_unpack *u, struct ptc_unpack_member *ret, struct ptc_err *err);

/*
 * Read the bytes of the current member, in order. @put returns non-zero, with *err set, to stop.
 * PTC_E_FORMAT: it has fewer or more bytes than its header says.
 */
int ptc_unpack_data(struct ptc_unpack *u,
		    int (*put)(void *ctx, const void *bytes, size_t n, struct ptc_err *err),
		    void *ctx, struct ptc_err *err);

#endif
