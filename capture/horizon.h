/* SPDX-License-Identifier: MIT */
/*
 * How far back an AUX ring that is overwritten can reach, from the places where its trace
 * stopped: pure arithmetic. Nobody says how often it came round between two stops, so the
 * least that is possible is counted, and the answer is early rather than late.
 */
#ifndef PTC_CAPTURE_HORIZON_H
#define PTC_CAPTURE_HORIZON_H

#include <stddef.h>
#include <stdint.h>

enum { PTC_HORIZON_STEPS = 32 };

struct ptc_horizon {
	uint64_t size;	/* of the ring */
	uint64_t made;	/* bytes, at least */
	uint64_t reach; /* what was made before this time has been overwritten, for certain */
	struct ptc_horizon_stop {
		uint64_t time, made;
	} stops[PTC_HORIZON_STEPS +
		2]; /* those that are in the ring yet, thinned out; oldest first */
	size_t n;
};

/* A ring of @size bytes whose head is at @head. */
void ptc_horizon_init(struct ptc_horizon *h, uint64_t size, uint64_t head);

/* The trace stopped with its head at @head, an offset into the ring. */
void ptc_horizon_stop(struct ptc_horizon *h, uint64_t time, uint64_t head);

#endif
