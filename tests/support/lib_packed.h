/* SPDX-License-Identifier: MIT */
/* perf.data in other forms than lib_perfdata.h's: pipe mode, and compressed records. */
#ifndef PTC_TESTS_LIB_PACKED_H
#define PTC_TESTS_LIB_PACKED_H

#include "auxtrace/reader/reader.h"
#include "lib_perfdata.h"

/* As pd_finish, but in pipe mode: attrs, features (BUILD_ID unchanged), end mark, data. */
uint8_t *pd_finish_pipe(const struct pd *p, size_t *ret_len);

/* A zstd stream that becomes compressed records. */
struct packer;
struct packer *pk_new(void);
void pk_free(struct packer *z);

/*
 * Compresses @bytes and appends them to @out, flushed, as records of @type (COMPRESSED or
 * COMPRESSED2) with at most @max compressed bytes each.
 */
void pk_put(struct packer *z, struct ptc_buf *out, uint32_t type, const void *bytes, size_t len,
	    size_t max);

/* Replaces @p's records so far by compressed ones, and adds the feature COMPRESSED. */
void pk_pack(struct pd *p, uint32_t type, size_t max);

/*
 * Returns all records of @f as in a file, without the data that follows them. Leaves out the
 * records of the pipe-mode header. Returns the code that ended ptc_file_next.
 */
int pk_records(const struct ptc_file *f, struct ptc_buf *ret, struct ptc_err *err);

/* Returns true if @part equals the first bytes of @whole. */
bool pk_begins(const struct ptc_buf *whole, const struct ptc_buf *part);

#endif
