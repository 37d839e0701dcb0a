/* SPDX-License-Identifier: MIT */
/* A hash from a number (a pid, a tid, that of a queue) to a place in an array that only grows. */
#ifndef PTC_BASE_IDMAP_H
#define PTC_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_idmap_slot;

/* A struct of zeros has no number. */
struct ptc_idmap {
	struct ptc_idmap_slot *slots; /* owned; @nslots is 0 or a power of two */
	size_t nslots, n;
};

void ptc_idmap_release(struct ptc_idmap *m);

/* The place of @id; SIZE_MAX: none. */
size_t ptc_idmap_find(const struct ptc_idmap *m, int32_t id);

/* @id, which has no place, is at @place from now on. False: out of memory. */
bool ptc_idmap_add(struct ptc_idmap *m, int32_t id, size_t place);

#endif
