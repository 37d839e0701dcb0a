/* SPDX-License-Identifier: MIT */
/*
 * Writing pipe mode: the data of a file's header as records. Layouts:
 * tools/lib/perf/include/perf/event.h.
 */
#ifndef PTC_AUXTRACE_WRITER_PIPE_WRITER_H
#define PTC_AUXTRACE_WRITER_PIPE_WRITER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/error.h"

void ptc_pipe_put_header(struct ptc_buf *b);

/* Append a stored attr, padded with zeros to @size bytes. Its size field is set to @size. */
void ptc_pipe_put_attr_bytes(struct ptc_buf *b, struct ptc_cur attr, uint32_t size);

/* Append HEADER_ATTR. PTC_E_LIMIT: more ids than fit in a record. */
int ptc_pipe_put_attr(struct ptc_buf *b, const struct ptc_buf *attr, const uint64_t *ids,
		      size_t nids, struct ptc_err *err);

/*
 * Return whether pipe mode can have this feature. Excluded: AUXTRACE (file offsets), DIR_FORMAT,
 * features larger than a record, and empty features (BRANCH_STACK), which would mark the end of the
 * features.
 */
bool ptc_pipe_has_room(unsigned int bit, size_t len);

/*
 * Append HEADER_FEATURE. For TRACING_DATA append the record of that name. For BUILD_ID append its
 * HEADER_BUILD_ID records, up to the first damaged one.
 */
void ptc_pipe_put_feature(struct ptc_buf *b, unsigned int bit, const struct ptc_buf *bytes);

/* Append the record that marks the end of the features. */
void ptc_pipe_put_end(struct ptc_buf *b);

#endif
