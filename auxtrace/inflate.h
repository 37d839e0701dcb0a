/* SPDX-License-Identifier: MIT */
/*
 * Compressed records: COMPRESSED (the bytes up to the record's end) and
 * COMPRESSED2 (a u64 says how many bytes). Those of one file are one zstd
 * stream, which is cut anywhere: a record may begin in one and end in a later
 * one.
 */
#ifndef PTC_AUXTRACE_INFLATE_H
#define PTC_AUXTRACE_INFLATE_H

#include "auxtrace/header.h"

/*
 * Expand all compressed records of @f, within PTC_LIMIT_INFLATE_*, and note
 * which one completes what. A stream that is damaged is no error here: part.bad
 * says where it ends; if @f is tolerant the part's data end there instead.
 */
int ptc_inflate(struct ptc_file *f, struct ptc_err *err);

#endif
