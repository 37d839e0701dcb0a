/* SPDX-License-Identifier: MIT */
/* Places at which a snapshot is taken: the stepper stands still in front of them. */
#ifndef PTC_CAPTURE_STEP_CROSSING_H
#define PTC_CAPTURE_STEP_CROSSING_H

#include <stdbool.h>

#include "capture/placed.h"
#include "ptcap/capture.h"

struct ptc_mm;
struct ptc_task;

struct ptc_crossings {
	struct ptc_placed at[PTC_AT_MAX];
	uint64_t count[PTC_AT_MAX]; /* of all threads: take one each so many times */
	uint64_t seen[PTC_AT_MAX];
	size_t n;
	bool met; /* one was reached */
};

void ptc_crossings_init(struct ptc_crossings *c, const struct ptc_record_opts *opts);

/* What is mapped has changed: where are the places now? */
void ptc_crossings_resolve(const struct ptc_crossings *c, struct ptc_mm *mm);

/*
 * @k is about to be stepped: does it come to a place, for the time that counts? Asked again
 * before it has been stepped: no.
 */
bool ptc_crossings_reached(struct ptc_crossings *c, struct ptc_task *k);

#endif
