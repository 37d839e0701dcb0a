/* SPDX-License-Identifier: MIT */
/*
 * Compress records into PERF_RECORD_COMPRESSED. All of these records of a file form one zstd
 * stream, which is never ended, as with perf. Each record holds whole blocks of the stream, and
 * expands to at most PTC_COMPRESS_PIECE bytes. perf refuses a record that expands to nothing.
 * Memory: below 16 MiB at every level.
 */
#ifndef PTC_AUXTRACE_WRITER_COMPRESS_H
#define PTC_AUXTRACE_WRITER_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "ptcap/writer.h"

enum { PTC_COMPRESS_PIECE = 64000 }; /* fits in a record even if it grows */

struct ptc_compressor;

/* @level: 1 (fast) to PTC_COMPRESS_LEVEL_MAX (small), otherwise PTC_E_USAGE. */
int ptc_compressor_new(unsigned int level, struct ptc_compressor **ret, struct ptc_err *err);
void ptc_compressor_free(struct ptc_compressor *c);

/*
 * Add bytes from the front of @bytes to the current record. *@ret_taken: how many; 0 if the record
 * is full and must be finished first.
 */
int ptc_compressor_add(struct ptc_compressor *c, const void *bytes, size_t len, size_t *ret_taken,
		       struct ptc_err *err);

/*
 * Finish the current record. *@ret: the record with its header, borrowed until the next call.
 * *@ret_len: its size, 0 if nothing was added.
 */
int ptc_compressor_finish(struct ptc_compressor *c, const void **ret, size_t *ret_len,
			  struct ptc_err *err);

#endif
