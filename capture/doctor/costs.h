/* SPDX-License-Identifier: MIT */
/* Measures what the software sources cost on this machine. */
#ifndef PTC_CAPTURE_DOCTOR_COSTS_H
#define PTC_CAPTURE_DOCTOR_COSTS_H

#include <stdbool.h>
#include <stdint.h>

/* 0: not measured. */
struct ptc_costs {
	uint64_t native_ns;	  /* a small shell loop without ptcap */
	uint64_t emu_ns;	  /* the same loop, emulated */
	uint64_t emu_per_second;  /* instructions */
	uint64_t step_per_second; /* instructions */
	uint64_t step_slowdown;	  /* against a run without ptcap; needs emu */
};

/*
 * Records a shell loop with the sources that work, into a temporary folder that is removed. Takes
 * about a second. Errors leave values at 0.
 */
void ptc_costs_measure(struct ptc_costs *ret, bool emu, bool step);

#endif
