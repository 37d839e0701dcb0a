/* SPDX-License-Identifier: MIT */
/* Writing what ptcap/crash.h reads. */
#ifndef PTC_AUXTRACE_CRASH_H
#define PTC_AUXTRACE_CRASH_H

#include "base/buf.h"
#include "ptcap/crash.h"

/* What fits into one record, with room to spare. */
enum { PTC_CRASH_BYTES_MAX = 32 << 10 };

/* Append @c as a record. More bytes than fit: memory comes in several, of anything else the first.
 */
void ptc_crash_put(struct ptc_buf *b, const struct ptc_crash *c);

#endif
