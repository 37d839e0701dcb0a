/* SPDX-License-Identifier: MIT */
/* Finds a place in a program's code among the mappings of a process. */
#ifndef PTC_CAPTURE_HOST_PLACE_LOOKUP_H
#define PTC_CAPTURE_HOST_PLACE_LOOKUP_H

#include <stdint.h>

#include "capture/host/maps.h"
#include "ptcap/capture.h"

struct ptc_placed {
	const struct ptc_place *place; /* borrowed; NULL: none */
	uint64_t dev, ino;	       /* of the place's file; 0: stat failed */
};

struct ptc_placed ptc_placed_of(const struct ptc_place *place);

/* Returns the address of the place in @maps; 0: it is not mapped. */
uint64_t ptc_placed_at(const struct ptc_placed *p, const struct ptc_maps *maps);

#endif
