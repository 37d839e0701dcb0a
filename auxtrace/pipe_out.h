/* SPDX-License-Identifier: MIT */
/*
 * Pipe mode as it is written: what a file's header has, as records. Layouts:
 * tools/lib/perf/include/perf/event.h.
 */
#ifndef PTC_AUXTRACE_PIPE_OUT_H
#define PTC_AUXTRACE_PIPE_OUT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/error.h"

void ptc_pipe_put_header(struct ptc_buf *b);

/* A stored attr, with zeros behind it, as @size bytes (its size field says so). */
void ptc_pipe_put_attr_bytes(struct ptc_buf *b, struct ptc_cur attr, uint32_t size);

/* HEADER_ATTR. PTC_E_LIMIT: more ids than fit in a record. */
int ptc_pipe_put_attr(struct ptc_buf *b, const struct ptc_buf *attr, const uint64_t *ids,
		      size_t nids, struct ptc_err *err);

/*
 * Can pipe mode have this feature? Not AUXTRACE (of offsets in a file),
 * DIR_FORMAT, what does not fit in a record, and what is empty (BRANCH_STACK),
 * which would be taken for the end of them.
 */
bool ptc_pipe_has_room(unsigned int bit, size_t len);

/*
 * HEADER_FEATURE; of TRACING_DATA the record of that name, of BUILD_ID the
 * HEADER_BUILD_ID records that it is made of, up to the first that is damaged.
 */
void ptc_pipe_put_feature(struct ptc_buf *b, unsigned int bit, const struct ptc_buf *bytes);

/* The mark behind the last feature. */
void ptc_pipe_put_end(struct ptc_buf *b);

#endif
