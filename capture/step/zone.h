/* SPDX-License-Identifier: MIT */
/*
 * Where to trace: from one place to another, as often as control comes by.
 * Outside, all tasks run at full speed, and a debug register of each watches
 * the place to begin at: nothing is written into the program's code.
 */
#ifndef PTC_CAPTURE_STEP_ZONE_H
#define PTC_CAPTURE_STEP_ZONE_H

#include "capture/placed.h"
#include "ptcap/capture.h"

struct ptc_mm;
struct ptc_task;
struct ptc_tracer;

struct ptc_zone {
	struct ptc_placed from, to;
	bool outside; /* nothing is stepped now */
	bool reached; /* from was, once */
	bool over;    /* to was, and there is no from to wait for */
};

void ptc_zone_init(struct ptc_zone *z, const struct ptc_place *from, const struct ptc_place *to);

/* What is mapped has changed: where are the places now? */
void ptc_zone_resolve(const struct ptc_zone *z, struct ptc_mm *mm);

/* Has @k, which is to be stepped next, come to the end of the zone? Then nobody is stepped now. */
bool ptc_zone_left(struct ptc_zone *z, const struct ptc_task *k);

/* Resume @k at full speed. Its next stop is ptc_zone_take's. */
int ptc_zone_run(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/*
 * @k, which ran at full speed, has stopped with @status, its registers read: it
 * is ready again, or at its end. If the zone begins with it, all others are
 * asked to stop, and are stepped from there on.
 */
int ptc_zone_take(struct ptc_tracer *t, struct ptc_task *k, int status, struct ptc_err *err);

/* @k will be stepped: pinned, without a breakpoint. */
void ptc_zone_tighten(struct ptc_tracer *t, struct ptc_task *k);

#endif
