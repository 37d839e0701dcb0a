/* SPDX-License-Identifier: MIT */
/* Writing what ptcap/filecode.h reads. */
#ifndef PTC_AUXTRACE_FILECODE_H
#define PTC_AUXTRACE_FILECODE_H

#include "base/buf.h"
#include "ptcap/filecode.h"

/* Bytes of code in one record: whole pages, with room to spare for the name. */
enum { PTC_FILECODE_MAX = 32 << 10 };

/* Appends @c as one record; at most PTC_FILECODE_MAX bytes. */
void ptc_filecode_put(struct ptc_buf *b, const struct ptc_filecode *c);

#endif
