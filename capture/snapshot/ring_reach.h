/* SPDX-License-Identifier: MIT */
/*
 * Computes the earliest time from which an overwritten AUX ring may still hold trace. The input is
 * the head at each stop of the trace. The number of laps between two stops is unknown. The smallest
 * possible number is assumed, so the result is too early rather than too late.
 */
#ifndef PTC_CAPTURE_SNAPSHOT_RING_REACH_H
#define PTC_CAPTURE_SNAPSHOT_RING_REACH_H

#include <stddef.h>
#include <stdint.h>

enum { PTC_HORIZON_STEPS = 32 };

struct ptc_horizon {
	uint64_t size;	/* of the ring in bytes */
	uint64_t made;	/* bytes written so far, at least */
	uint64_t reach; /* trace from before this time has certainly been overwritten */
	/* Stops whose trace is still in the ring, thinned out; oldest first. */
	struct ptc_horizon_stop {
		uint64_t time, made;
	} stops[PTC_HORIZON_STEPS + 2];
	size_t n;
};

/* Initialises for a ring of @size bytes whose head is at @head. */
void ptc_horizon_init(struct ptc_horizon *h, uint64_t size, uint64_t head);

/* Records a stop of the trace at @time with the head at @head, an offset into the ring. */
void ptc_horizon_stop(struct ptc_horizon *h, uint64_t time, uint64_t head);

#endif
