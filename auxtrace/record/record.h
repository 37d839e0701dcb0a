/* SPDX-License-Identifier: MIT */
/* Building records: the inverse of the parser in ptcap/record.h. */
#ifndef PTC_AUXTRACE_RECORD_RECORD_H
#define PTC_AUXTRACE_RECORD_RECORD_H

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/record.h"

/*
 * ptc_rec_begin returns the record's start in @b, for ptc_rec_end, which pads to 8 and fills in the
 * size. A record over PTC_REC_MAX sets the buffer to failed.
 */
size_t ptc_rec_begin(struct ptc_buf *b, uint32_t type, uint16_t misc);
void ptc_rec_end(struct ptc_buf *b, size_t start);

#endif
