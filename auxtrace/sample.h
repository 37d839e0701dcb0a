/* SPDX-License-Identifier: MIT */
/*
 * The sample_id trailer of sample_id_all records. Order fixed by the kernel
 * (perf_event_header__init_id, kernel/events/core.c):
 * TID TIME ID STREAM_ID CPU IDENTIFIER.
 */
#ifndef PTC_AUXTRACE_SAMPLE_H
#define PTC_AUXTRACE_SAMPLE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"

struct ptc_sample_id {
	uint64_t has; /* PERF_SAMPLE_* bits of the fields that are set */
	int32_t pid, tid;
	uint64_t time; /* ns, perf clock */
	uint64_t id;   /* ID or IDENTIFIER */
	uint64_t stream_id;
	uint32_t cpu;
};

/* Bytes of the trailer for an attr's sample_type. */
size_t ptc_sample_id_size(uint64_t sample_type);

/*
 * Read the trailer at the end of @body, and cut it off. False (nothing
 * changed) when the body is too short for it.
 */
bool ptc_sample_id_parse(struct ptc_cur *body, uint64_t sample_type, struct ptc_sample_id *ret);

/* Append the trailer; fields that @id does not have are 0. */
void ptc_sample_id_put(struct ptc_buf *b, uint64_t sample_type, const struct ptc_sample_id *id);

/* The fixed part at the front of a PERF_RECORD_SAMPLE's body. */
struct ptc_sample {
	struct ptc_sample_id id;
	uint64_t ip, addr, period; /* set if id.has says so: PERF_SAMPLE_IP, _ADDR, _PERIOD */
};

/* Read it; @body moves behind it (READ, CALLCHAIN ... follow). False (nothing changed): too short.
 */
bool ptc_sample_parse(struct ptc_cur *body, uint64_t sample_type, struct ptc_sample *ret);

#endif
