/* SPDX-License-Identifier: MIT */
/* The part of a queue that a shard prints: see decode/session/shard.h. */
#ifndef PTC_DECODE_SEGMENT_QUEUE_PART_H
#define PTC_DECODE_SEGMENT_QUEUE_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/stream/seek.h"

/*
 * One end of the part. Items in front of @arm belong to the shard before. With times, @arm is the
 * last PSB in front of the border, and the part begins at the first item at or behind @ns. Without
 * times, @arm is the border itself.
 */
struct ptc_queue_border {
	struct ptc_spot arm;
	struct ptc_spot at; /* the first PSB at or behind the border; bytes are counted from here */
	uint64_t ns;	    /* with times; 0: the begin; UINT64_MAX: the end */
};

struct ptc_queue_part {
	bool on; /* the decode is a shard */
	bool timed;
	struct ptc_queue_border from, to;
	bool before; /* decoding has not reached the begin of the part */
	bool armed;  /* decoding has passed to.arm */
	/* A gap without a time is open: it began in front of the part, or the part ends in it. */
	bool first_gap, last_gap;
	bool is_cut;	   /* a cutout: trace behind the shard is missing */
	bool tells_before; /* items in front of the part get PTC_ITEM_BEFORE; else they are dropped
			    */
};

/* Returns where a series of steps must end, for a check. */
static inline struct ptc_spot ptc_queue_part_stop(const struct ptc_queue_part *p)
{
	return p->before && !p->timed ? p->from.arm : p->to.arm;
}

#endif
