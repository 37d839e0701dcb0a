/* SPDX-License-Identifier: MIT */
/* Places at which a snapshot is taken: the stepper pauses before them. */
#ifndef PTC_CAPTURE_STEP_SNAPSHOT_POINTS_H
#define PTC_CAPTURE_STEP_SNAPSHOT_POINTS_H

#include <stdbool.h>

#include "capture/host/place_lookup.h"
#include "ptcap/capture.h"

struct ptc_mm;
struct ptc_task;

struct ptc_crossings {
	struct ptc_placed at[PTC_AT_MAX];
	/* by all threads: a snapshot is taken at every count-th execution */
	uint64_t count[PTC_AT_MAX];
	uint64_t seen[PTC_AT_MAX];
	size_t n;
	bool met; /* a place has been reached */
};

void ptc_crossings_init(struct ptc_crossings *c, const struct ptc_record_opts *opts);

/* The mappings have changed: computes the current addresses of the places. */
void ptc_crossings_resolve(const struct ptc_crossings *c, struct ptc_mm *mm);

/*
 * Returns true if @k, about to be stepped, is at a place, at an execution that the count selects. A
 * second call before @k is stepped returns false.
 */
bool ptc_crossings_reached(struct ptc_crossings *c, struct ptc_task *k);

#endif
