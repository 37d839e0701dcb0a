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

#endif
