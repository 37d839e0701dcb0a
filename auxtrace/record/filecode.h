/* SPDX-License-Identifier: MIT */
/* Writing code of mapped files: the inverse of the parser in ptcap/filecode.h. */
#ifndef PTC_AUXTRACE_RECORD_FILECODE_H
#define PTC_AUXTRACE_RECORD_FILECODE_H

#include "base/buf.h"
#include "ptcap/filecode.h"

/* Bytes of code in one record: whole pages, with space left for the name. */
enum { PTC_FILECODE_MAX = 32 << 10 };

/* Append @c as one record, at most PTC_FILECODE_MAX bytes. */
void ptc_filecode_put(struct ptc_buf *b, const struct ptc_filecode *c);

#endif
