/* SPDX-License-Identifier: MIT */
/* Writing counter values: what ptcap/sample.h reads. */
#ifndef PTC_AUXTRACE_READ_FORMAT_H
#define PTC_AUXTRACE_READ_FORMAT_H

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/sample.h"

/* Append @r by @r->format: the inverse of parse. @r->n is not used: @r->group has its length. */
void ptc_read_put(struct ptc_buf *b, const struct ptc_read *r);

/* Append one value as it stands in a group. */
void ptc_read_value_put(struct ptc_buf *b, uint64_t read_format, const struct ptc_read_value *v);

#endif
