/* SPDX-License-Identifier: MIT */
/* Writing samples and trailers: what ptcap/sample.h reads. */
#ifndef PTC_AUXTRACE_SAMPLE_H
#define PTC_AUXTRACE_SAMPLE_H

#include "auxtrace/branch.h"
#include "auxtrace/read_format.h"
#include "auxtrace/record.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/sample.h"

/* Bytes of the trailer for an attr's sample_type. */
size_t ptc_sample_id_size(uint64_t sample_type);

/* Append the trailer; fields that @id does not have are 0. */
void ptc_sample_id_put(struct ptc_buf *b, uint64_t sample_type, const struct ptc_sample_id *id);

/*
 * Append @s as a whole record by @attr: the inverse of parse. raw and aux are
 * padded as the kernel pads them, and their sizes include that. Parts that
 * contradict the attr (registers that are not one for each bit of the mask
 * while there is an ABI, counters that are not one for each branch) fail @b.
 */
void ptc_sample_put(struct ptc_buf *b, uint16_t misc, const struct ptc_sample *s,
		    const struct perf_event_attr *attr);

#endif
