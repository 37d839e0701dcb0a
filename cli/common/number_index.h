/* SPDX-License-Identifier: MIT */
/*
 * A hash table of numbers from 1 on, which stand for entries of an array. The caller knows the hash
 * of each entry, and compares entries. At most half of the slots are in use.
 */
#ifndef PTC_CLI_COMMON_NUMBER_INDEX_H
#define PTC_CLI_COMMON_NUMBER_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Initialize with zeros. Caller frees slots. */
struct ptc_number_index {
	uint32_t *slots; /* owned; 0: free; NULL: the table is empty */
	unsigned int bits;
	size_t n;
};

/* Returns @hash with @v mixed in. */
static inline uint64_t ptc_hash_mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

/* Returns the slot at which a search for @hash begins. @x has slots. */
static inline size_t ptc_number_index_first(const struct ptc_number_index *x, uint64_t hash)
{
	return (size_t)(hash >> (64 - x->bits));
}

/* Returns the slot behind @slot. A search ends at a free slot. */
static inline size_t ptc_number_index_next(const struct ptc_number_index *x, size_t slot)
{
	return (slot + 1) & (((size_t)1 << x->bits) - 1);
}

/* Add @number, which is not in the table. ptc_number_index_grow has made space. */
static inline void ptc_number_index_add(struct ptc_number_index *x, uint64_t hash, uint32_t number)
{
	size_t slot = ptc_number_index_first(x, hash);

	while (x->slots[slot])
		slot = ptc_number_index_next(x, slot);
	x->slots[slot] = number;
	x->n++;
}

/*
 * Make space for one more number. *ret_emptied: the table was replaced by an empty table of twice
 * the size, so add all numbers again. Returns false if out of memory.
 */
bool ptc_number_index_grow(struct ptc_number_index *x, bool *ret_emptied);

#endif
