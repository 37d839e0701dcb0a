/* SPDX-License-Identifier: MIT */
/* AUXTRACE records: parsing with a check against the file, and writing. Type: ptcap/userrec.h. */
#ifndef PTC_AUXTRACE_RECORD_AUXTRACE_REC_H
#define PTC_AUXTRACE_RECORD_AUXTRACE_REC_H

#include "auxtrace/record/record.h"
#include "ptcap/userrec.h"

/*
 * Parse the body of an AUXTRACE record. The trace bytes follow the record and are not part of
 * header.size, so @bytes_after limits them. @off is for messages.
 */
int ptc_auxtrace_parse(struct ptc_cur body, uint64_t off, uint64_t bytes_after,
		       struct ptc_auxtrace *ret, struct ptc_err *err);

/* Append the 48-byte record. The caller writes the payload. */
void ptc_auxtrace_put(struct ptc_buf *b, const struct ptc_auxtrace *a);

#endif
