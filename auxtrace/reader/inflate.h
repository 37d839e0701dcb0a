/* SPDX-License-Identifier: MIT */
/*
 * Compressed records: COMPRESSED (payload up to the record's end) and COMPRESSED2 (a u64 payload
 * size). Those of one file form one zstd stream, cut at arbitrary positions: a record may begin in
 * one and end in a later one.
 */
#ifndef PTC_AUXTRACE_READER_INFLATE_H
#define PTC_AUXTRACE_READER_INFLATE_H

#include "auxtrace/reader/file_private.h"

/*
 * Expand all compressed records of @f, within PTC_LIMIT_INFLATE_*, and store which of them
 * completes which records. A damaged stream is not an error: part.bad records its end. If @f is
 * tolerant, the part's data end there instead.
 */
int ptc_inflate(struct ptc_file *f, struct ptc_err *err);

#endif
