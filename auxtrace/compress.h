/* SPDX-License-Identifier: MIT */
/*
 * Records into PERF_RECORD_COMPRESSED: all those of a file are one zstd stream,
 * which is never ended (as perf leaves it). Each record holds whole blocks of
 * the stream, and PTC_COMPRESS_PIECE bytes at most come out of it; perf refuses
 * one of which nothing comes out. Memory: below 16 MiB, whatever the level.
 */
#ifndef PTC_AUXTRACE_COMPRESS_H
#define PTC_AUXTRACE_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "ptcap/error.h"

enum {
	PTC_COMPRESS_LEVEL_MAX = 22,
	PTC_COMPRESS_PIECE = 64000, /* so many fit in a record even if they grow */
};

struct ptc_compressor;

/* @level: 1 (fast) to PTC_COMPRESS_LEVEL_MAX (small); else PTC_E_USAGE. */
int ptc_compressor_new(unsigned int level, struct ptc_compressor **ret, struct ptc_err *err);
void ptc_compressor_free(struct ptc_compressor *c);

/*
 * Take from the front of @bytes what the record in the making has room for;
 * *@ret_taken says how many, 0 when it has to be finished first.
 */
int ptc_compressor_add(struct ptc_compressor *c, const void *bytes, size_t len, size_t *ret_taken,
		       struct ptc_err *err);

/*
 * Finish the record: *@ret has its header and all that was taken since the last.
 * *@ret_len is 0 if that is nothing. Lent until the next call.
 */
int ptc_compressor_finish(struct ptc_compressor *c, const void **ret, size_t *ret_len,
			  struct ptc_err *err);

#endif
