/* SPDX-License-Identifier: MIT */
/* AUXTRACE: a piece of trace. Layout: tools/lib/perf/include/perf/event.h. */
#ifndef PTC_AUXTRACE_AUXTRACE_REC_H
#define PTC_AUXTRACE_AUXTRACE_REC_H

#include "auxtrace/record.h"

enum { PTC_AUXTRACE_SIZE = 48 }; /* the record itself, without its payload */

struct ptc_auxtrace {
	uint64_t size;	 /* payload bytes, behind the record; a multiple of 8 as written by perf */
	uint64_t offset; /* of the payload in the AUX stream */
	uint64_t reference; /* TSC when it was copied: gives TSC packets their top byte */
	uint32_t idx;	    /* queue */
	int32_t tid, cpu;   /* -1: none */
};

/*
 * Parse the body of an AUXTRACE record. The trace bytes follow the record and
 * are not part of header.size, hence @bytes_after. @off is for messages.
 */
int ptc_auxtrace_parse(struct ptc_cur body, uint64_t off, uint64_t bytes_after,
		       struct ptc_auxtrace *ret, struct ptc_err *err);

/* Append the 48-byte record (the payload is the caller's to write). */
void ptc_auxtrace_put(struct ptc_buf *b, const struct ptc_auxtrace *a);

#endif
