/* SPDX-License-Identifier: MIT */
/*
 * Multi-threaded decoding: chooses which slices of which lanes are decoded ahead of their turn, and
 * when. Slices that begin first are decoded first. The total size is bounded, however long the
 * trace is.
 */
#ifndef PTC_DECODE_PLAN_H
#define PTC_DECODE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/least.h"
#include "decode/range.h"

struct ptc_decode;
struct ptc_err;
struct ptc_jobs;
struct ptc_lane;
struct ptc_scout;
struct ptc_slice;

struct ptc_plan {
	struct ptc_decode *d;	 /* lent */
	struct ptc_jobs *jobs;	 /* owned */
	struct ptc_scout *scout; /* owned */
	size_t slice;		 /* minimum trace bytes of the next slice */
	size_t recs, recs_of;	 /* of finished slices of pieces: records; bytes of trace */
	size_t bytes, bytes_max; /* trace bytes that are planned and not finished; limit */
	bool full;		 /* nothing can be added until a slice is finished */
	bool pieces;		 /* the second engine makes the pieces of the next slices */
	struct ptc_least cuts;	 /* by lane: the time at which its next slice begins */
	size_t *stepped;	 /* owned; indexes of lanes with ptc_lane.stepped set */
	size_t nstepped;
};

/* A place where a slice may begin. */
struct ptc_plan_cut {
	struct ptc_spot spot; /* behind the last span: no such place */
	uint64_t ns;
};

/* Creates a plan. *@ret is NULL if one thread is enough, or no more can be used. */
int ptc_plan_new(struct ptc_decode *d, struct ptc_plan **ret, struct ptc_err *err);
/* Frees all slices too. */
void ptc_plan_free(struct ptc_plan *p);

/* Call it when @l stepped or ended: ptc_plan_fill() then checks its cut again. */
void ptc_plan_stepped(struct ptc_plan *p, struct ptc_lane *l);

/* Adds slices up to the limit. */
void ptc_plan_fill(struct ptc_plan *p);

/* The first slice of @l is finished: removes and frees it. */
void ptc_plan_drop(struct ptc_plan *p, struct ptc_lane *l);
/* Frees @s, which no lane refers to any more. */
void ptc_plan_done(struct ptc_plan *p, struct ptc_slice *s);

#endif
