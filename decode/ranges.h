/* SPDX-License-Identifier: MIT */
/*
 * Ranges of addresses, ascending and disjoint, in a balanced tree. Copies share its nodes: a copy
 * takes constant time, and a change copies only the nodes on the way to it. Every function but
 * ptc_ranges_release takes logarithmic time, plus the time to free what a change replaces.
 */
#ifndef PTC_DECODE_RANGES_H
#define PTC_DECODE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ptc_codefile;
struct ptc_ranges_node;

struct ptc_range {
	uint64_t start, end; /* [start, end) */
	uint64_t off;	     /* of start, in the file or in the bytes */
	union {
		struct ptc_codefile *file;
		const uint8_t *bytes; /* lent */
	};
	bool patched; /* the file is not all that is to be said: libipt must ask us */
};

/*
 * A struct of zeros has no range. Nodes count their owners without a lock: one thread makes,
 * changes and releases all copies of a tree; other threads may read a copy that does not change.
 */
struct ptc_ranges {
	struct ptc_ranges_node *root; /* owned, may be shared */
};

void ptc_ranges_release(struct ptc_ranges *t);

/* How many there are. */
size_t ptc_ranges_count(const struct ptc_ranges *t);

/* Makes @t, whose ranges are released, share those of @from. */
void ptc_ranges_copy(struct ptc_ranges *t, const struct ptc_ranges *from);

/*
 * Puts @r, which is not empty, in place of what its addresses have; what sticks out at either side
 * stays. False: out of memory, and some ranges may be gone.
 */
bool ptc_ranges_put(struct ptc_ranges *t, const struct ptc_range *r);

/* Forgets what [start, end) has. False as above. */
bool ptc_ranges_drop(struct ptc_ranges *t, uint64_t start, uint64_t end);

/* The first range that ends behind @addr, until the next change of @t; NULL: there is none. */
const struct ptc_range *ptc_ranges_from(const struct ptc_ranges *t, uint64_t addr);

/* The one behind @r, in the same way. */
static inline const struct ptc_range *ptc_ranges_next(const struct ptc_ranges *t,
						      const struct ptc_range *r)
{
	return ptc_ranges_from(t, r->end);
}

#endif
