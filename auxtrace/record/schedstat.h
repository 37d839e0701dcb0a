/* SPDX-License-Identifier: MIT */
/* Writing SCHEDSTAT records: the inverse of the parser in ptcap/userrec.h. */
#ifndef PTC_AUXTRACE_RECORD_SCHEDSTAT_H
#define PTC_AUXTRACE_RECORD_SCHEDSTAT_H

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/userrec.h"

/* Append the body: the inverse of ptc_schedstat_parse. */
void ptc_schedstat_put(struct ptc_buf *b, const struct ptc_schedstat *s);

#endif
