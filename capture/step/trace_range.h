/* SPDX-License-Identifier: MIT */
/*
 * Limits tracing to a range of execution: from one place to another, each time control reaches the
 * first. Outside, all tasks run at full speed (full_speed.h).
 */
#ifndef PTC_CAPTURE_STEP_TRACE_RANGE_H
#define PTC_CAPTURE_STEP_TRACE_RANGE_H

#include "capture/host/place_lookup.h"
#include "ptcap/capture.h"

struct ptc_mm;
struct ptc_task;

struct ptc_zone {
	struct ptc_placed from, to;
	bool outside; /* stepping is off */
	bool reached; /* @from was reached at least once */
	bool over;    /* @to was reached, and there is no @from */
};

void ptc_zone_init(struct ptc_zone *z, const struct ptc_place *from, const struct ptc_place *to);

/* The mappings have changed: computes the current addresses of the places. */
void ptc_zone_resolve(const struct ptc_zone *z, struct ptc_mm *mm);

/* Returns true if @k, to be stepped next, has reached the end of the zone. Stepping is then off. */
bool ptc_zone_left(struct ptc_zone *z, const struct ptc_task *k);

#endif
