/* SPDX-License-Identifier: MIT */
/* A record of a call that is open at the end of a chunk: numbers of 64 bits, little-endian. */
#ifndef PTC_CLI_SERVE_CALL_RECORD_H
#define PTC_CLI_SERVE_CALL_RECORD_H

#include <stdint.h>

#include "cli/serve/served_call.h"

enum { PTC_CALL_RECORD_SIZE = 11 * 8 };

struct ptc_call_record {
	uint64_t caller; /* place of the caller's record; 0: none */
	struct ptc_served_call call;
};

void ptc_call_record_put(const struct ptc_call_record *r, struct ptc_buf *b);
void ptc_call_record_get(const uint8_t bytes[PTC_CALL_RECORD_SIZE], struct ptc_call_record *ret);

#endif
