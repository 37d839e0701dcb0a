/* SPDX-License-Identifier: MIT */
/* Writing samples and trailers: the inverse of the parsers in ptcap/sample.h. */
#ifndef PTC_AUXTRACE_RECORD_SAMPLE_H
#define PTC_AUXTRACE_RECORD_SAMPLE_H

#include "auxtrace/record/branch.h"
#include "auxtrace/record/read_format.h"
#include "auxtrace/record/record.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/sample.h"

/* Returns the bytes of the trailer for an attr's sample_type. */
size_t ptc_sample_id_size(uint64_t sample_type);

/* Append the trailer. Fields that @id does not have are 0. */
void ptc_sample_id_put(struct ptc_buf *b, uint64_t sample_type, const struct ptc_sample_id *id);

/*
 * Append @s as a whole record with the layout of @attr: the inverse of ptc_sample_parse. raw and
 * aux are padded as by the kernel, and their sizes include the padding. Parts that contradict the
 * attr set @b to failed: a number of registers unequal to the bits of the mask, or a number of
 * counters unequal to the number of branches.
 */
void ptc_sample_put(struct ptc_buf *b, uint16_t misc, const struct ptc_sample *s,
		    const struct perf_event_attr *attr);

#endif
