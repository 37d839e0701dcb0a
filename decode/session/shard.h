/* SPDX-License-Identifier: MIT */
/*
 * Shards: a recording is cut into N parts, and each process decodes one. The borders are chosen
 * from the trace alone, so all processes choose the same ones (doc/adr/0035-shards.md).
 *
 * With times, a border is the time of a PSB, and cuts all queues at that time. Without times,
 * queues come one after another, and a border is a PSB of one queue.
 */
#ifndef PTC_DECODE_SESSION_SHARD_H
#define PTC_DECODE_SESSION_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/segment/queue_part.h"
#include "decode/stream/stream.h"
#include "decode/stream/tsc_clock.h"

/* The trace to cut. All of it is lent. */
struct ptc_shard_trace {
	const struct ptc_stream *const *queues; /* in the order of the items of equal times */
	size_t n;
	const struct ptc_tsc_clock *clock; /* not valid: the trace has no times */
	uint64_t least_ns; /* no border has an earlier time; UINT64_MAX: no border */
};

/* A border: all of the trace in front of it belongs to earlier shards. */
struct ptc_shard_border {
	uint64_t ns;	      /* with times; UINT64_MAX: nothing is behind the border */
	size_t queue;	      /* without times: earlier queues are in front of it, */
	struct ptc_spot spot; /* and this queue up to here */
};

/*
 * Returns border @k of @n, 0 < @k < @n: about @k / @n of all bytes are in front of it. It does not
 * decrease with @k. If many PSBs have one time, or PSBs are far apart, several borders are equal.
 * Reads a few PSBs only.
 */
struct ptc_shard_border ptc_shard_border_of(const struct ptc_shard_trace *t, uint32_t k,
					    uint32_t n);

/* Returns where @b cuts queue @i. */
struct ptc_queue_border ptc_shard_cut(const struct ptc_shard_trace *t,
				      const struct ptc_shard_border *b, size_t i);

/* Returns the begin, and the end, of queue @i. */
struct ptc_queue_border ptc_shard_begin(void);
struct ptc_queue_border ptc_shard_end(const struct ptc_shard_trace *t, size_t i);

#endif
