/* SPDX-License-Identifier: MIT */
/*
 * Multi-threaded decoding: chooses which work units of which queues are decoded ahead of their
 * turn, and when. Work units that begin first are decoded first. The total size is bounded, however
 * long the trace is.
 */
#ifndef PTC_DECODE_SEGMENT_SCHEDULER_H
#define PTC_DECODE_SEGMENT_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/winner_tree.h"
#include "decode/stream/seek.h"

struct ptc_err;
struct ptc_pool;
struct ptc_queue_decoder;
struct ptc_timeline;
struct ptc_work_unit;

struct ptc_scheduler {
	struct ptc_queue_decoder *lanes; /* lent; the queues */
	size_t nlanes;
	struct ptc_timeline *timeline; /* lent */
	uint64_t *ahead;	       /* lent; see ptc_scheduler_new() */
	struct ptc_pool *jobs;	       /* owned */
	size_t slice;		       /* minimum trace bytes of the next work unit */
	size_t recs, recs_of;	       /* of finished work units: records; bytes of trace */
	size_t bytes, bytes_max;       /* trace bytes that are planned and not finished; limit */
	bool full;		       /* nothing can be added until a work unit is finished */
	struct ptc_least cuts;	       /* by queue: the time at which its next work unit begins */
	size_t *stepped; /* owned; indexes of queues with ptc_queue_decoder.stepped set */
	size_t nstepped;
};

/* A place where a work unit may begin. */
struct ptc_scheduler_cut {
	struct ptc_spot spot; /* behind the last span: no such place */
	uint64_t ns;
};

/*
 * Creates a scheduler for the queues @lanes[0..n), whose replays have begun. What it is given must
 * outlive it. *@ahead counts segments that are used, and were made before their turn. *@ret is NULL
 * if one thread is enough.
 */
int ptc_scheduler_new(struct ptc_queue_decoder *lanes, size_t n, struct ptc_timeline *timeline,
		      uint64_t *ahead, struct ptc_scheduler **ret, struct ptc_err *err);
/* Frees all work units too. */
void ptc_scheduler_free(struct ptc_scheduler *p);

/* Call it when @l stepped or ended: ptc_scheduler_fill() then checks its cut again. */
void ptc_scheduler_stepped(struct ptc_scheduler *p, struct ptc_queue_decoder *l);

/* Adds work units up to the limit. */
void ptc_scheduler_fill(struct ptc_scheduler *p);

/* The first work unit of @l is finished: removes and frees it. */
void ptc_scheduler_drop(struct ptc_scheduler *p, struct ptc_queue_decoder *l);
/* Frees @s, which no queue refers to any more. */
void ptc_scheduler_done(struct ptc_scheduler *p, struct ptc_work_unit *s);

#endif
