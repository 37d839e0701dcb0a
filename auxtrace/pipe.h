/* SPDX-License-Identifier: MIT */
/*
 * Pipe mode: a header of 16 bytes, then records to the end. What the header of
 * a file has is in records too: HEADER_ATTR, HEADER_FEATURE, HEADER_BUILD_ID,
 * TRACING_DATA, EVENT_UPDATE. They may be anywhere, so all records are looked
 * at once.
 */
#ifndef PTC_AUXTRACE_PIPE_H
#define PTC_AUXTRACE_PIPE_H

#include "auxtrace/header.h"

/* Fill @f, whose only part begins with a pipe header: attrs, features, data. */
int ptc_pipe_read(struct ptc_file *f, struct ptc_err *err);

/*
 * What EVENT_UPDATE records of @f's first part tell of its events, from position
 * @pos on; @front: up to the first record of the kernel, piece of trace or
 * compressed record. What cannot be read ends it.
 */
void ptc_pipe_updates(struct ptc_file *f, uint64_t pos, bool front);

#endif
