/* SPDX-License-Identifier: MIT */
/* Writing counter values: the inverse of the parser in ptcap/sample.h. */
#ifndef PTC_AUXTRACE_RECORD_READ_FORMAT_H
#define PTC_AUXTRACE_RECORD_READ_FORMAT_H

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/sample.h"

/*
 * Append @r in the form of @r->format: the inverse of ptc_read_parse. @r->n is ignored; the length
 * of @r->group counts.
 */
void ptc_read_put(struct ptc_buf *b, const struct ptc_read *r);

/* Append one value in the layout of a group. */
void ptc_read_value_put(struct ptc_buf *b, uint64_t read_format, const struct ptc_read_value *v);

#endif
