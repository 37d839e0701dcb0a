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
struct ptc_jobs;
struct ptc_lane;
struct ptc_scout;
struct ptc_slice;

struct ptc_plan {
	struct ptc_lane *lanes; /* lent; the queues */
	size_t nlanes;
	struct ptc_scout *timeline; /* lent */
	uint64_t *ahead;	    /* lent; see ptc_plan_new() */
	struct ptc_jobs *jobs;	    /* owned */
	size_t slice;		    /* minimum trace bytes of the next work unit */
	size_t recs, recs_of;	    /* of finished work units: records; bytes of trace */
	size_t bytes, bytes_max;    /* trace bytes that are planned and not finished; limit */
	bool full;		    /* nothing can be added until a work unit is finished */
	struct ptc_least cuts;	    /* by queue: the time at which its next work unit begins */
	size_t *stepped;	    /* owned; indexes of queues with ptc_lane.stepped set */
	size_t nstepped;
};

/* A place where a work unit may begin. */
struct ptc_plan_cut {
	struct ptc_spot spot; /* behind the last span: no such place */
	uint64_t ns;
};

/*
 * Creates a scheduler for the queues @lanes[0..n), whose replays have begun. What it is given must
 * outlive it. *@ahead counts segments that are used, and were made before their turn. *@ret is NULL
 * if one thread is enough.
 */
int ptc_plan_new(struct ptc_lane *lanes, size_t n, struct ptc_scout *timeline, uint64_t *ahead,
		 struct ptc_plan **ret, struct ptc_err *err);
/* Frees all work units too. */
void ptc_plan_free(struct ptc_plan *p);

/* Call it when @l stepped or ended: ptc_plan_fill() then checks its cut again. */
void ptc_plan_stepped(struct ptc_plan *p, struct ptc_lane *l);

/* Adds work units up to the limit. */
void ptc_plan_fill(struct ptc_plan *p);

/* The first work unit of @l is finished: removes and frees it. */
void ptc_plan_drop(struct ptc_plan *p, struct ptc_lane *l);
/* Frees @s, which no queue refers to any more. */
void ptc_plan_done(struct ptc_plan *p, struct ptc_slice *s);

#endif
