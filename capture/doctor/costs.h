/* SPDX-License-Identifier: MIT */
/* Measures what the software sources cost on this machine. */
#ifndef PTC_CAPTURE_DOCTOR_COSTS_H
#define PTC_CAPTURE_DOCTOR_COSTS_H

#include <stdbool.h>

#include "ptcap/doctor.h"

/*
 * Records a shell loop with the sources that work, into a temporary folder that is removed. Takes
 * about a second. Errors leave values at 0.
 */
void ptc_costs_measure(struct ptc_doctor_costs *ret, bool emu, bool step);

#endif
