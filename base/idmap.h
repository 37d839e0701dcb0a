/* SPDX-License-Identifier: MIT */
/* A hash map from a number (pid, tid, or queue idx) to an index in an array that only grows. */
#ifndef PTC_BASE_IDMAP_H
#define PTC_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_idmap_slot;

/* An all-zero struct is an empty map. */
struct ptc_idmap {
	struct ptc_idmap_slot *slots; /* owned; @nslots is 0 or a power of two */
	size_t nslots, n;
};

void ptc_idmap_release(struct ptc_idmap *m);

/* Returns the place of @id; SIZE_MAX: not in the map. */
size_t ptc_idmap_find(const struct ptc_idmap *m, int32_t id);

/* Add @id, which must be new, at @place. Returns false if out of memory. */
bool ptc_idmap_add(struct ptc_idmap *m, int32_t id, size_t place);

#endif
