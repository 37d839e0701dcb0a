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
 * of it: who follows it pops that. Threads that share the code share its chains (see shared.h).
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
	uint64_t key;	 /* see ptc_fast_chain_key; 0: none; published when all else is there */
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

/* Chains by key, in sets of SET, each of which is two lines of the processor's cache. */
struct ptc_fast_chain_table {
	struct ptc_fast_chain *v; /* owned; 1 << bits */
	unsigned int bits;
};

/* SET: see ptc_fast_chain_find */
enum { PTC_FAST_CHAIN_SET = 4, PTC_FAST_CHAIN_TABLES = 12 };

struct ptc_fast_chains {
	bool counts; /* its chains have KINDS, and no records: it is for who counts transfers */
	/*
	 * [first, n) are there: the last is in use, others may still look into those in front. That
	 * behind may be about to come: touched bytes of its memory are there. A hint for who does
	 * not make it.
	 */
	struct ptc_fast_chain_table tables[PTC_FAST_CHAIN_TABLES];
	unsigned int first, n; /* n: published */
	size_t touched;
	bool grows;	  /* somebody makes the next one: claimed */
	size_t used;	  /* shared: a hint */
	bool any;	  /* there is one, or more; a hint, but never late */
	uint64_t refused; /* since the table grew, for want of room in a set; a hint */
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

static inline const struct ptc_fast_chain_table *
ptc_fast_chains_table(const struct ptc_fast_chains *c)
{
	return &c->tables[ptc_fast_see(&c->n) - 1];
}

static inline bool ptc_fast_chain_is(const struct ptc_fast_chain *c, uint64_t key)
{
	return ptc_fast_see(&c->key) == key;
}

/* In the other line of the set: that is rare, and apart from the loop that looks for it. */
const struct ptc_fast_chain *ptc_fast_chain_find_far(const struct ptc_fast_chain_table *t,
						     size_t slot, uint64_t key);

/* The chain, or NULL. */
static inline const struct ptc_fast_chain *ptc_fast_chain_find(const struct ptc_fast_chain_table *t,
							       uint64_t key)
{
	const size_t slot = ptc_fast_chain_slot(key, t->bits);

	if (__builtin_expect(ptc_fast_chain_is(&t->v[slot], key), 1))
		return &t->v[slot];
	if (ptc_fast_chain_is(&t->v[slot ^ 1], key))
		return &t->v[slot ^ 1];
	return ptc_fast_chain_find_far(t, slot, key);
}

/* False: out of memory. */
bool ptc_fast_chains_init(struct ptc_fast_chains *c);
void ptc_fast_chains_release(struct ptc_fast_chains *c);
/* With the code that they are made of; as that, by who has it alone. */
void ptc_fast_chains_forget(struct ptc_fast_chains *c);
/* Is it time to forget them all, because many find no room? */
bool ptc_fast_chains_is_full(const struct ptc_fast_chains *c, const struct ptc_fast_code *code);

/* From now on it is for who counts transfers, or not; forgotten, if that is new. By who has it
 * alone, if it is. */
void ptc_fast_chains_set_counts(struct ptc_fast_chains *c, bool counts);

/*
 * Where a larger table will be needed soon, and others look into this one, get some of its memory:
 * for who begins with some more trace.
 */
void ptc_fast_chains_prepare(struct ptc_fast_chains *c, const struct ptc_fast_code *code);

/* How much memory it has, with what was got for a larger table. */
size_t ptc_fast_chains_bytes(const struct ptc_fast_chains *c);

/*
 * Make the one of @n of @bits from @block on, if that is worth it. There may be another table then.
 * False: it was not made, by nobody.
 */
bool ptc_fast_chain_make(struct ptc_fast_chains *c, struct ptc_fast_hand *h, uint32_t block,
			 uint64_t bits, unsigned int n);

#endif
