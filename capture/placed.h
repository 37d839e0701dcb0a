/* SPDX-License-Identifier: MIT */
/* A place in a program's code, found again in what a process has mapped. */
#ifndef PTC_CAPTURE_PLACED_H
#define PTC_CAPTURE_PLACED_H

#include <stdint.h>

#include "capture/maps.h"
#include "ptcap/capture.h"

struct ptc_placed {
	const struct ptc_place *place; /* lent; NULL: none */
	uint64_t dev, ino;	       /* of its file, where that could be asked */
};

struct ptc_placed ptc_placed_of(const struct ptc_place *place);

/* Its address; 0: it is not there. */
uint64_t ptc_placed_at(const struct ptc_placed *p, const struct ptc_maps *maps);

#endif
