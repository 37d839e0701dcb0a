/* SPDX-License-Identifier: MIT */
/*
 * Chains: what blocks and the next few bits of trace lead through, found once and kept. A chain is
 * known by the block that it begins at and its bits; it says where it ends, and has the transfers
 * on the way, ready to be copied.
 *
 *	block A, bits 1 0 1 1 -->  A --1--> B --0--> C(ret) --1--> D --1--> E
 *				   recs of A, B, C, D; pushes; ends at E
 *
 * One ends early where more than bits is needed, and where it returns to what was pushed in front
 * of it: who follows it pops that. Chains that are in the way of others are forgotten.
 */
#ifndef PTC_DECODE_FAST_CHAIN_H
#define PTC_DECODE_FAST_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/fast/block.h"

enum {
	PTC_FAST_CHAIN_BITS = 8,   /* of trace, at most */
	PTC_FAST_CHAIN_RECS = 255, /* at most */
	PTC_FAST_CHAIN_HEAT = 2,   /* a block must come so often before chains begin at it */
};

/* Half a line of the processor's cache. */
struct ptc_fast_chain {
	uint64_t key;	 /* see ptc_fast_chain_key; 0: none */
	uint32_t end;	 /* the block that comes next; NONE: the one that is popped */
	uint32_t recs;	 /* in the code's recs: nrecs; to of the last one is not known if it pops */
	uint32_t pushes; /* the block, if it is one; else in the code's pushes: npushes blocks */
	uint32_t last;	 /* the block that ran last */
	uint16_t ninsns;
	uint8_t nrecs, npushes;
	uint8_t nbits; /* used */
	bool listed;   /* the end of the last block is the last of recs */
};

static_assert(sizeof(struct ptc_fast_chain) == 32, "two chains are a line");

struct ptc_fast_chains {
	bool counts; /* its chains have KINDS, and no records: it is for who counts transfers */
	struct ptc_fast_chain *table; /* owned; pairs of 1 << bits */
	unsigned int bits;
	size_t used;
	uint64_t evicted; /* since the table grew */
	uint64_t made;	  /* ever */
};

/* The @n oldest of @bits (see ptc_fast_flow_bits), at least one, from @block on. */
static inline uint64_t ptc_fast_chain_key(uint32_t block, uint64_t bits, unsigned int n)
{
	return (uint64_t)block << 16 | 1u << n | bits >> (64 - n);
}

static inline size_t ptc_fast_chain_slot(uint64_t key, unsigned int bits)
{
	return (size_t)(key * 0x9e3779b97f4a7c15 >> (64 - bits));
}

/* The chain, or NULL. */
static inline const struct ptc_fast_chain *ptc_fast_chain_find(const struct ptc_fast_chains *c,
							       uint64_t key)
{
	const size_t slot = ptc_fast_chain_slot(key, c->bits);

	if (c->table[slot].key == key)
		return &c->table[slot];
	return c->table[slot ^ 1].key == key ? &c->table[slot ^ 1] : NULL;
}

/* False: out of memory. */
bool ptc_fast_chains_init(struct ptc_fast_chains *c);
void ptc_fast_chains_release(struct ptc_fast_chains *c);
/* With the code that they are made of. */
void ptc_fast_chains_forget(struct ptc_fast_chains *c);

/* From now on it is for who counts transfers, or not; forgotten, if that is new. */
void ptc_fast_chains_set_counts(struct ptc_fast_chains *c, bool counts);

/* How much memory it has. */
size_t ptc_fast_chains_bytes(const struct ptc_fast_chains *c);

/*
 * Make the one of @n of @bits from @block on, if that is worth it. Pointers to blocks, their
 * records and chains are void then. False: it was not made.
 */
bool ptc_fast_chain_make(struct ptc_fast_chains *c, struct ptc_fast_code *code, uint32_t block,
			 uint64_t bits, unsigned int n);

#endif
