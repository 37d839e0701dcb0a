/* SPDX-License-Identifier: MIT */
/* perf.data of the other forms than lib_perfdata.h's: pipe mode, and compressed records. */
#ifndef PTC_TESTS_LIB_PACKED_H
#define PTC_TESTS_LIB_PACKED_H

#include "auxtrace/reader.h"
#include "lib_perfdata.h"

/* As pd_finish, in pipe mode: attrs, features (a BUILD_ID one as it is), end mark, data. */
uint8_t *pd_finish_pipe(const struct pd *p, size_t *ret_len);

/* A zstd stream that becomes compressed records. */
struct packer;
struct packer *pk_new(void);
void pk_free(struct packer *z);

/*
 * Compress @bytes and append them to @out, flushed, as records of @type
 * (COMPRESSED or COMPRESSED2) with at most @max compressed bytes each.
 */
void pk_put(struct packer *z, struct ptc_buf *out, uint32_t type, const void *bytes, size_t len,
	    size_t max);

/* @p's records so far replaced by compressed ones, and feature COMPRESSED. */
void pk_pack(struct pd *p, uint32_t type, size_t max);

/*
 * All records of @f as they would be in a file, without what follows them;
 * those of pipe mode's header are left out. Returns what ptc_file_next ended with.
 */
int pk_records(const struct ptc_file *f, struct ptc_buf *ret, struct ptc_err *err);

/* Whether @part are the first bytes of @whole. */
bool pk_begins(const struct ptc_buf *whole, const struct ptc_buf *part);

#endif
