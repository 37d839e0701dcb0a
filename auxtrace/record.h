/* SPDX-License-Identifier: MIT */
/* Framing: one record after the other, each proving progress. */
#ifndef PTC_AUXTRACE_RECORD_H
#define PTC_AUXTRACE_RECORD_H

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/error.h"

/* One record, lent from the file or ring it is in. */
struct ptc_rec {
	uint64_t off; /* of its header, in the file */
	uint32_t type;
	uint16_t misc;
	struct ptc_cur body; /* behind the header; ends with the sample_id trailer, if any */
};

/*
 * Take the record at the front of @c. @off is its offset in the file. Returns
 * 1 with *@ret set and the cursor behind it; 0 when nothing is left; or
 * PTC_E_FORMAT (a size below 8 or beyond the end: nothing can follow).
 */
int ptc_rec_next(struct ptc_cur *c, uint64_t off, struct ptc_rec *ret, struct ptc_err *err);

/*
 * Bytes that follow the record and are not part of its size: the trace of an
 * AUXTRACE, the text of a HEADER_TRACING_DATA. 0 for every other record, and
 * for one too short to say. It is the record's claim: hold it against what is
 * there.
 */
uint64_t ptc_rec_trailing(const struct ptc_rec *rec);

/*
 * Building: begin returns the record's start in @b, to be given to end, which
 * pads to 8 and fills in the size. A record over PTC_REC_MAX fails the buffer.
 */
size_t ptc_rec_begin(struct ptc_buf *b, uint32_t type, uint16_t misc);
void ptc_rec_end(struct ptc_buf *b, size_t start);

/* "MMAP2", "AUXTRACE_INFO", ...; NULL for a type we do not know. */
const char *ptc_rec_name(uint32_t type);

#endif
