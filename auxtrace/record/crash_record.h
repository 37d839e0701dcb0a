/* SPDX-License-Identifier: MIT */
/* Writing crash records: the inverse of the parser in ptcap/crash.h. */
#ifndef PTC_AUXTRACE_RECORD_CRASH_RECORD_H
#define PTC_AUXTRACE_RECORD_CRASH_RECORD_H

#include "base/buf.h"
#include "ptcap/crash.h"

/* Bytes of one record. A record has space for more. */
enum { PTC_CRASH_BYTES_MAX = 32 << 10 };

/*
 * Append @c as a record. If bytes exceed PTC_CRASH_BYTES_MAX, memory is split into several records.
 * Any other kind is cut off.
 */
void ptc_crash_put(struct ptc_buf *b, const struct ptc_crash *c);

/* Change exit_status in the SIGNAL record at the beginning of @b. */
void ptc_crash_set_exit_status(struct ptc_buf *b, uint64_t status);

#endif
