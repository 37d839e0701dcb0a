/* SPDX-License-Identifier: MIT */
/*
 * Chains: the way through blocks for the next few bits of trace, found once and kept. A chain is
 * known by its first block and its bits. It has the block where it ends, and the branches on the
 * way, ready to be copied.
 *
 *	block A, bits 1 0 1 1 -->  A --1--> B --0--> C(ret) --1--> D --1--> E
 *				   recs of A, B, C, D; pushes; ends at E
 *
 * A chain ends early where more than bits is needed. It also ends where it returns to an address
 * that was pushed in front of it: its user pops that address. Threads that share the code share its
 * chains (see atomics.h).
 */
#ifndef PTC_DECODE_ENGINE_TNT_CHAIN_H
#define PTC_DECODE_ENGINE_TNT_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/engine/block.h"

enum {
	PTC_FAST_CHAIN_BITS = 8,   /* bits of trace, at most */
	PTC_FAST_CHAIN_RECS = 255, /* records, at most */
	PTC_FAST_CHAIN_HEAT = 2,   /* executions of a block before chains begin at it */
};

/* Half a cache line of the processor. */
struct ptc_fast_chain {
	uint64_t key; /* see ptc_fast_chain_key; 0: none; published after all other members */
	uint32_t end; /* the next block; NONE: a block that is popped */
	/* index in the code's recs: nrecs; if it pops, to of the last one is unknown */
	uint32_t recs;
	/* a single block itself, else index in the code's pushes: npushes blocks */
	uint32_t pushes;
	uint32_t last; /* the block that ran last */
	uint16_t ninsns;
	uint8_t nrecs, npushes;
	uint8_t nbits; /* bits that the chain uses */
	bool listed;   /* the last record is the end of the last block */
};

static_assert(sizeof(struct ptc_fast_chain) == 32, "two chains are a line");

/* Chains by key, in sets of SET. Each set is two cache lines of the processor. */
struct ptc_fast_chain_table {
	struct ptc_fast_chain *v; /* owned; 1 << bits */
	unsigned int bits;
};

/* SET: see ptc_fast_chain_find */
enum { PTC_FAST_CHAIN_SET = 4, PTC_FAST_CHAIN_TABLES = 12 };

struct ptc_fast_chains {
	bool counts; /* chains have KINDS and no records: for callers that count branches */
	/*
	 * [first, n) exist. The last one is in use. Other threads may still read the ones in front.
	 * The one behind may be in preparation: touched bytes of its memory are present. touched is
	 * a hint for threads that do not prepare it.
	 */
	struct ptc_fast_chain_table tables[PTC_FAST_CHAIN_TABLES];
	unsigned int first, n; /* n: published */
	size_t touched;
	bool grows;	  /* a thread prepares the next table: claimed */
	size_t used;	  /* if shared: a hint */
	bool any;	  /* chains exist; a hint, but never late */
	uint64_t refused; /* chains refused since the table grew, because a set was full; a hint */
};

/*
 * Returns the key for the @n oldest of @bits (see ptc_fast_flow_bits), at least one, from @block
 * on.
 */
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

/* Look into the other cache line of the set: rare, so outside the loop that searches chains. */
const struct ptc_fast_chain *ptc_fast_chain_find_far(const struct ptc_fast_chain_table *t,
						     size_t slot, uint64_t key);

/* Returns the chain, or NULL. */
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

/* Returns false if out of memory. */
bool ptc_fast_chains_init(struct ptc_fast_chains *c);
void ptc_fast_chains_release(struct ptc_fast_chains *c);
/* Call when the code is forgotten, in the thread that has the code alone. */
void ptc_fast_chains_forget(struct ptc_fast_chains *c);
/* Should all chains be forgotten, because many find no space? */
bool ptc_fast_chains_is_full(const struct ptc_fast_chains *c, const struct ptc_fast_code *code);

/*
 * Select chains for counting, or for listing. A change forgets all chains, and is allowed only in a
 * thread that has them alone.
 */
void ptc_fast_chains_set_counts(struct ptc_fast_chains *c, bool counts);

/*
 * Get some memory for a larger table, if other threads read this table and it will be too small
 * soon. Called by a thread that begins with more trace.
 */
void ptc_fast_chains_prepare(struct ptc_fast_chains *c, const struct ptc_fast_code *code);

/* Returns the memory in use, including memory for a larger table. */
size_t ptc_fast_chains_bytes(const struct ptc_fast_chains *c);

/*
 * Make the chain for the first @n of @bits from @block on, if that is worth it. There may be
 * another table afterwards. Returns false if no thread made it.
 */
bool ptc_fast_chain_make(struct ptc_fast_chains *c, struct ptc_fast_hand *h, uint32_t block,
			 uint64_t bits, unsigned int n);

#endif
