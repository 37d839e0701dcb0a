/* SPDX-License-Identifier: MIT */
/*
 * Tasks outside the traced range (trace_range.h) run at full speed. A debug register of each task
 * watches the start of the range. The program's code is not modified.
 */
#ifndef PTC_CAPTURE_STEP_FULL_SPEED_H
#define PTC_CAPTURE_STEP_FULL_SPEED_H

#include "capture/step/tracer.h"

/* Resumes @k at full speed. Its next stop must go to ptc_zone_take. */
int ptc_zone_run(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err);

/*
 * Handles the stop of @k with @status; @k ran at full speed and its registers were read. @k is then
 * ready or has ended. If @k has reached the start, all other tasks are asked to stop, and stepping
 * begins.
 */
int ptc_zone_take(struct ptc_tracer *t, struct ptc_task *k, int status, struct ptc_err *err);

/* Prepares @k for stepping: pins it and removes its breakpoint. */
void ptc_zone_tighten(struct ptc_tracer *t, struct ptc_task *k);

#endif
