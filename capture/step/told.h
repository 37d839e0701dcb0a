/* SPDX-License-Identifier: MIT */
/*
 * Which executable mappings the recording has told of. A mapping that is split
 * or merged, or loses its PROT_EXEC for a while (as a JIT does to write to it),
 * is not told of again: an MMAP2 would make the reader forget the code that was
 * saved there.
 */
#ifndef PTC_CAPTURE_STEP_TOLD_H
#define PTC_CAPTURE_STEP_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/maps.h"
#include "capture/step/saved.h"

struct ptc_told_range;

struct ptc_told {
	struct ptc_told_range *ranges; /* owned; ascending, disjoint */
	size_t n, cap;
};

/* A struct of zeros has told nothing. */
void ptc_told_release(struct ptc_told *t);

/* False: out of memory. */
bool ptc_told_copy(struct ptc_told *t, const struct ptc_told *from);

/*
 * The mappings are now @maps. @tell is called for each part of an executable
 * one that was not told of, with its own offset; @saved keeps only what is in
 * parts that were told of before. False: out of memory.
 */
bool ptc_told_update(struct ptc_told *t, const struct ptc_maps *maps, struct ptc_saved *saved,
		     void (*tell)(void *ctx, const struct ptc_map *part), void *ctx);

#endif
