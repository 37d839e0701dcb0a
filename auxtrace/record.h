/* SPDX-License-Identifier: MIT */
/* Building records: what ptcap/record.h frames. */
#ifndef PTC_AUXTRACE_RECORD_H
#define PTC_AUXTRACE_RECORD_H

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/record.h"

/*
 * Building: begin returns the record's start in @b, to be given to end, which
 * pads to 8 and fills in the size. A record over PTC_REC_MAX fails the buffer.
 */
size_t ptc_rec_begin(struct ptc_buf *b, uint32_t type, uint16_t misc);
void ptc_rec_end(struct ptc_buf *b, size_t start);

#endif
