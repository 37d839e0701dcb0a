/* SPDX-License-Identifier: MIT */
/*
 * Finds the numbered entry with the least time. Ties: the first entry. A winner tree: a change of
 * one entry costs O(log n), and no query looks at all entries.
 */
#ifndef PTC_BASE_WINNER_TREE_H
#define PTC_BASE_WINNER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTC_LEAST_NONE = -1 };

/* A struct of zeros has no entry, and nothing to release. */
struct ptc_least {
	struct ptc_least_node *nodes; /* owned; the root is 1, the leaves begin at @leaves */
	size_t leaves;		      /* a power of two */
};

/* Makes @n entries without a time. False: out of memory. */
bool ptc_least_init(struct ptc_least *t, size_t n);
void ptc_least_release(struct ptc_least *t);

/* Entry @i has @time from now on. */
void ptc_least_set(struct ptc_least *t, size_t i, uint64_t time);
/* Entry @i has no time from now on. */
void ptc_least_clear(struct ptc_least *t, size_t i);

/* Returns the entry of the least time, and the time; PTC_LEAST_NONE: no entry has one. */
ptrdiff_t ptc_least_first(const struct ptc_least *t, uint64_t *ret_time);
/* Returns the entry with the second least time, as ptc_least_first. */
ptrdiff_t ptc_least_second(const struct ptc_least *t, uint64_t *ret_time);

#endif
