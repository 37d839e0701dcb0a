/* SPDX-License-Identifier: MIT */
/*
 * Counter values as READ records and samples with PERF_SAMPLE_READ carry them:
 * struct read_format of include/uapi/linux/perf_event.h, in each of its forms.
 */
#ifndef PTC_AUXTRACE_READ_FORMAT_H
#define PTC_AUXTRACE_READ_FORMAT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"

struct ptc_read_value {
	uint64_t value;
	uint64_t id;   /* PERF_FORMAT_ID, else 0 */
	uint64_t lost; /* PERF_FORMAT_LOST, else 0: samples not written */
};

struct ptc_read {
	uint64_t format;		     /* PERF_FORMAT_*: attr.read_format */
	uint64_t n;			     /* values: 1 without PERF_FORMAT_GROUP */
	uint64_t time_enabled, time_running; /* ns; 0 without their PERF_FORMAT_* */
	struct ptc_read_value one;	     /* the value without PERF_FORMAT_GROUP */
	struct ptc_cur group;		     /* the values with it: lent */
};

/* False for a format that this build does not know: its layout is not known either. */
bool ptc_read_known(uint64_t read_format);

/*
 * Take values of @read_format from the front of @c. False (nothing moved) if
 * too few bytes are left, or the format is not known. *@ret lends from @c.
 */
bool ptc_read_parse(struct ptc_cur *c, uint64_t read_format, struct ptc_read *ret);

/* Take the next value of @r (start with a copy to keep the first). False: no more. */
bool ptc_read_next(struct ptc_read *r, struct ptc_read_value *ret);

/* Append @r by @r->format: the inverse of parse. @r->n is not used: @r->group has its length. */
void ptc_read_put(struct ptc_buf *b, const struct ptc_read *r);

/* Append one value as it stands in a group. */
void ptc_read_value_put(struct ptc_buf *b, uint64_t read_format, const struct ptc_read_value *v);

#endif
