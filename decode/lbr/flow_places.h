/* SPDX-License-Identifier: MIT */
/*
 * Places in code that are equal in two runs of a program: the build-id of a file, and the offset in
 * it. Addresses differ from run to run (ASLR).
 */
#ifndef PTC_DECODE_LBR_FLOW_PLACES_H
#define PTC_DECODE_LBR_FLOW_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elfnote.h"

struct ptc_addrspace;
struct ptc_codefile;

enum { PTC_FLOW_OBJECTS = 4096, PTC_FLOW_OFF_BITS = 48 };

/* A file with code, in both runs. */
struct ptc_flow_object {
	struct ptc_build_id id;
	bool other; /* the other run has mapped it */
};

/* Starts zeroed. */
struct ptc_flow_places {
	struct ptc_flow_object *objects; /* owned; place >> PTC_FLOW_OFF_BITS is index + 1 */
	size_t n, cap;
	/* The range that was looked up last. */
	const struct ptc_addrspace *as;
	uint64_t version, start, end, place; /* place of start; 0: not comparable */
};

void ptc_flow_places_release(struct ptc_flow_places *p);

/*
 * Returns the number of the file with @id, from 1, which may be new if @add. 0: it has no id, it is
 * not known, or there are too many files. Also 0 if out of memory.
 */
size_t ptc_flow_object(struct ptc_flow_places *p, const struct ptc_build_id *id, bool add);

/*
 * Returns the place of @ip in @as. 0: no file with a build-id is mapped there, its code was
 * changed in memory, or the file is unknown and not @add.
 */
uint64_t ptc_flow_place(struct ptc_flow_places *p, const struct ptc_addrspace *as, uint64_t ip,
			bool add);

/* Forget the last lookup: the address spaces of another recording follow. */
static inline void ptc_flow_places_forget(struct ptc_flow_places *p)
{
	p->as = NULL;
}

/* Returns the file of a place that is not 0. */
static inline struct ptc_flow_object *ptc_flow_object_of(const struct ptc_flow_places *p,
							 uint64_t place)
{
	return &p->objects[(place >> PTC_FLOW_OFF_BITS) - 1];
}

#endif
