/* SPDX-License-Identifier: MIT */
/*
 * Several threads: which slices of which lanes are decoded ahead of their turn, and when. The
 * slices that begin first come first, and there are never more than fit in a bound, however long
 * the trace is.
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
	size_t slice;		 /* bytes of trace that one to come has, at least */
	size_t recs, recs_of; /* records of pieces that are done with; bytes of trace they are of */
	size_t bytes, bytes_max; /* of all that are planned, or not done with */
	bool full;		 /* nothing can be added until one is done with */
	bool pieces;		 /* of those to come the second engine makes the pieces */
	struct ptc_least cuts;	 /* of lanes that have one to come: when it begins */
	size_t *stepped;	 /* owned; lanes with ptc_lane.stepped */
	size_t nstepped;
};

/* Where a slice may begin. */
struct ptc_plan_cut {
	struct ptc_spot spot; /* behind the last span: there is none */
	uint64_t ns;
};

/* *@ret is NULL where one thread is all there is to be had, or all that is needed. */
int ptc_plan_new(struct ptc_decode *d, struct ptc_plan **ret, struct ptc_err *err);
/* With all slices. */
void ptc_plan_free(struct ptc_plan *p);

/* To be called when @l stepped or ended: ptc_plan_fill looks at its cut again. */
void ptc_plan_stepped(struct ptc_plan *p, struct ptc_lane *l);

/* Add what there is room for. */
void ptc_plan_fill(struct ptc_plan *p);

/* The first slice of @l is done with. */
void ptc_plan_drop(struct ptc_plan *p, struct ptc_lane *l);
/* @s is of no lane any more: free it. */
void ptc_plan_done(struct ptc_plan *p, struct ptc_slice *s);

#endif
