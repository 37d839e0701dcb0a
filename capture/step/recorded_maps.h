/* SPDX-License-Identifier: MIT */
/*
 * Tracks the executable mappings that were recorded. A mapping is not recorded again if it is
 * split, merged, or not executable for a while, as when a JIT writes to it. An MMAP2 would make the
 * reader forget the code that was saved there.
 */
#ifndef PTC_CAPTURE_STEP_RECORDED_MAPS_H
#define PTC_CAPTURE_STEP_RECORDED_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/host/maps.h"
#include "capture/step/code_shadow.h"

struct ptc_told_range;

struct ptc_told {
	struct ptc_told_range *ranges; /* owned; ascending, disjoint */
	size_t n, cap;
};

/* A zeroed struct is empty. */
void ptc_told_release(struct ptc_told *t);

/* False: out of memory. */
bool ptc_told_copy(struct ptc_told *t, const struct ptc_told *from);

/*
 * The mappings are now @maps. Calls @tell for each part of an executable mapping that was not
 * recorded, with its own offset. @saved keeps only pages in parts that were recorded before. False:
 * out of memory.
 */
bool ptc_told_update(struct ptc_told *t, const struct ptc_maps *maps, struct ptc_saved *saved,
		     void (*tell)(void *ctx, const struct ptc_map *part), void *ctx);

#endif
