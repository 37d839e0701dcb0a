/* SPDX-License-Identifier: MIT */
/*
 * Ranges of addresses, ascending and disjoint, in a balanced tree. Copies share nodes: a copy takes
 * constant time, and a change copies only the nodes on the path to it. Every function except
 * ptc_ranges_release() takes logarithmic time, plus the time to free what a change replaces.
 */
#ifndef PTC_DECODE_IMAGE_RANGE_TREE_H
#define PTC_DECODE_IMAGE_RANGE_TREE_H

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
	bool patched; /* the file alone is not enough: libipt must read through our callback */
};

/*
 * A zeroed struct is empty. Nodes count their owners without a lock: one thread creates, changes
 * and releases all copies of a tree. Other threads may read a copy that does not change.
 */
struct ptc_ranges {
	struct ptc_ranges_node *root; /* owned, may be shared */
};

void ptc_ranges_release(struct ptc_ranges *t);

/* Returns the number of ranges. */
size_t ptc_ranges_count(const struct ptc_ranges *t);

/* Makes @t share the ranges of @from. @t must be empty or released. */
void ptc_ranges_copy(struct ptc_ranges *t, const struct ptc_ranges *from);

/*
 * Puts @r, which is not empty, in place of the ranges at its addresses. The parts of those ranges
 * outside @r stay. Returns false if out of memory; some ranges may be lost then.
 */
bool ptc_ranges_put(struct ptc_ranges *t, const struct ptc_range *r);

/* Removes [start, end). Returns false as above. */
bool ptc_ranges_drop(struct ptc_ranges *t, uint64_t start, uint64_t end);

/* Returns the first range that ends behind @addr, valid until the next change of @t. NULL: none. */
const struct ptc_range *ptc_ranges_from(const struct ptc_ranges *t, uint64_t addr);

/* Returns the range behind @r, with the same validity. */
static inline const struct ptc_range *ptc_ranges_next(const struct ptc_ranges *t,
						      const struct ptc_range *r)
{
	return ptc_ranges_from(t, r->end);
}

#endif
