/* SPDX-License-Identifier: MIT */
/* Maps the largest rings that a user may have, to see whether the kernel agrees. */
#ifndef PTC_CAPTURE_DOCTOR_RING_TRIAL_H
#define PTC_CAPTURE_DOCTOR_RING_TRIAL_H

#include "capture/doctor/judge.h"

/*
 * Maps rings of the sizes @s on each online CPU, and unmaps them. With the PMU intel_pt: both
 * rings. Without it: a data ring of the size of the AUX ring. Returns 0 or the errno of the refused
 * call. PTC_TRIAL_NONE: not tried, because the rings take much memory, or there are no events.
 */
int ptc_ring_trial(const struct ptc_facts *f, const struct ptc_ring_sizes *s);

#endif
