/* SPDX-License-Identifier: MIT */
/*
 * Reading pipe mode: a header of 16 bytes, then records to the end. The data of a file's header are
 * records too: HEADER_ATTR, HEADER_FEATURE, HEADER_BUILD_ID, TRACING_DATA, EVENT_UPDATE. They can
 * be anywhere, so all records are read on open.
 */
#ifndef PTC_AUXTRACE_READER_PIPE_H
#define PTC_AUXTRACE_READER_PIPE_H

#include "auxtrace/reader/file_private.h"

/* Fill attrs, features and data of @f, whose only part begins with a pipe header. */
int ptc_pipe_read(struct ptc_file *f, struct ptc_err *err);

/*
 * Apply the EVENT_UPDATE records of @f's first part to its events, from position @pos on. @front:
 * stop at the first kernel record, AUXTRACE record or compressed record. Also stops at an
 * unreadable record.
 */
void ptc_pipe_updates(struct ptc_file *f, uint64_t pos, bool front);

#endif
