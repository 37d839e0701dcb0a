/* SPDX-License-Identifier: MIT */
/*
 * A hash table that finds the entries of an array by their keys. The number of an entry is its
 * index + 1. At most half of the slots are in use.
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

/* The kind of entries in an array. A key is an entry, of which only some members are compared. */
struct ptc_number_kind {
	size_t size; /* bytes of an entry */
	uint64_t (*hash)(const void *entry);
	bool (*same)(const void *a, const void *b);
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

/*
 * Returns the number of the entry of @items with the key of @key; 0: there is none. A constant
 * @kind in the caller lets the compiler call its functions directly.
 */
static inline uint32_t ptc_number_find(const struct ptc_number_index *x,
				       const struct ptc_number_kind *kind, const void *items,
				       const void *key)
{
	size_t slot;

	if (!x->slots)
		return 0;
	for (slot = ptc_number_index_first(x, kind->hash(key)); x->slots[slot];
	     slot = ptc_number_index_next(x, slot))
		if (kind->same((const char *)items + (x->slots[slot] - 1) * kind->size, key))
			return x->slots[slot];
	return 0;
}

/*
 * Append a copy of @entry, whose key is new, and which is outside of the array. @items: the address
 * of the array's pointer; @n and
 * @cap: its length and capacity, as for ptc_grow. Returns the number of the entry; 0: out of
 * memory, or more than UINT32_MAX - 2 entries.
 */
uint32_t ptc_number_append(struct ptc_number_index *x, const struct ptc_number_kind *kind,
			   void *items, size_t *n, size_t *cap, const void *entry);

#endif
