/* SPDX-License-Identifier: MIT */
/*
 * Blocks: what code does between two places that need trace, found once and kept. A block begins at
 * an address, in a mode. It runs on through direct jumps and calls, up to and including the next
 * instruction that needs trace: a jcc, a return, an indirect jump or call, a far branch.
 *
 *	block --+-- insn insn jmp -- insn call -- insn ... jcc
 *		|	       |	  |		    |
 *		recs:	   from,to    from,to		from,to if it is taken
 *		pushes:		      the block behind the call
 *
 * Blocks are known by their numbers. All blocks belong to one state of the code. When a part of the
 * code changes, the blocks with code there become unbuilt. Links to these blocks stay valid: a
 * number stands for an address.
 *
 * Several threads may share the code (shared). Then each thread may look up, build and follow
 * blocks at any time (see atomics.h). Only a thread that has the code alone may forget or drop
 * blocks.
 */
#ifndef PTC_DECODE_ENGINE_BLOCK_H
#define PTC_DECODE_ENGINE_BLOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/insn.h"
#include "decode/engine/atomics.h"
#include "decode/engine/thread_arena.h"
#include "decode/items/branch_rec.h"

/* How a block ends. */
enum ptc_fast_end {
	PTC_FAST_UNBUILT, /* not built yet */
	PTC_FAST_COND,	  /* needs a bit: next[taken] */
	PTC_FAST_RET,	  /* needs a bit if it returns to the pushed address, else a TIP */
	PTC_FAST_JUMP,	  /* needs a TIP: indirect jumps, calls and far branches */
	PTC_FAST_ON,	  /* needs nothing: the block was long enough; next[0] */
	PTC_FAST_BAD,	  /* unknown: there is no code behind the last instruction */
};

enum {
	PTC_FAST_NONE = 0,	  /* no block has this number */
	PTC_FAST_MAX_INSNS = 250, /* instructions of a block */
	PTC_FAST_MAX_RECS = 24,	  /* records inside a block, without its end */
	/*
	 * An end with so many strays is not checked against its last target first. That is faster
	 * where ends have many targets (bench_fast of xz: a tenth).
	 */
	PTC_FAST_STRAYS = 16,
};

/* One cache line of the processor. */
struct ptc_fast_block {
	uint64_t ip;
	uint64_t end_ip;   /* of its last instruction, if it has any */
	uint32_t next[2];  /* the blocks that may follow */
	uint64_t tip;	   /* last target of the end; if shared, the first target */
	uint32_t tip_next; /* the block at tip: published */
	/* index in recs: nrecs inside the block, then one for its end; see KINDS */
	uint32_t recs;
	uint32_t pushes; /* index in pushes: npushes blocks */
	uint32_t lens;	 /* index in lens: ninsns */
	uint8_t nrecs, npushes, ninsns;
	uint8_t end;	  /* enum ptc_fast_end; published after all other members */
	uint8_t end_kind; /* enum ptc_kind, of the last instruction */
	uint8_t end_len;
	uint8_t mode;	/* enum ptc_mode */
	bool stays;	/* a jcc to the next instruction: never listed */
	uint8_t strays; /* hint: how often the target was not tip, up to STRAYS */
	uint8_t heat;	/* hint: how often it was executed; see tnt_chain.h */
	bool found;	/* claimed by the thread that publishes end */
};

static_assert(sizeof(struct ptc_fast_block) <= 64, "a block is a line");

/* Flags in lens, beside the length of an instruction. */
enum {
	PTC_FAST_LEN = 0x0f,
	PTC_FAST_LEAPS = 0x10,	/* a direct jump or call: the next record has its target */
	PTC_FAST_PUSHES = 0x20, /* its return address is the next of pushes */
};

/* Blocks by address and mode: open addressing. */
struct ptc_fast_index {
	unsigned int bits;
	uint32_t slots[]; /* 1 << bits; published */
};

enum { PTC_FAST_OLD = 16 };

struct ptc_fast_code {
	/* All owned. Their addresses never change. */
	struct ptc_fast_block *blocks;
	struct ptc_fast_rec *recs;
	uint32_t *pushes;
	uint8_t *lens;
	size_t used[PTC_FAST_LISTS], cap[PTC_FAST_LISTS]; /* used: the parts of all arenas */

	struct ptc_fast_index *index; /* owned; published */
	struct ptc_fast_index *old[PTC_FAST_OLD];
	unsigned int nold;	     /* smaller ones, which other threads may still read */
	struct ptc_fast_hand *hands; /* owned; published */

	bool shared;
	pthread_mutex_t lock; /* if shared: held to take parts, or to write tip */

	unsigned int halved; /* limits are halved so often; set by the owner of several of these */
	size_t bytes;	     /* total memory; a hint */
	bool full;	     /* over three quarters of a limit; a hint */
	bool failed;	     /* out of memory, or over a limit: lookups return NONE; a hint */
};

/* Creates no arena. Returns false if out of memory. */
bool ptc_fast_code_init(struct ptc_fast_code *c);
void ptc_fast_code_release(struct ptc_fast_code *c);
/* Forget all blocks. All numbers become invalid. */
void ptc_fast_code_forget(struct ptc_fast_code *c);

/* Should all blocks be forgotten, because over three quarters of a limit is in use? */
static inline bool ptc_fast_code_is_full(const struct ptc_fast_code *c)
{
	return ptc_fast_get_hint(&c->full) || ptc_fast_get_hint(&c->failed);
}

/* Held to take a part of a list, to grow the index, or to write a block's tip. */
void ptc_fast_code_lock(struct ptc_fast_code *c);
void ptc_fast_code_unlock(struct ptc_fast_code *c);

/* Returns the memory in use. */
static inline size_t ptc_fast_code_bytes(const struct ptc_fast_code *c)
{
	return ptc_fast_get_hint(&c->bytes);
}

/* Count memory that has grown from @was to @bytes bytes. */
static inline void ptc_fast_code_count_bytes(struct ptc_fast_code *c, size_t was, size_t bytes)
{
	if (bytes != was)
		(void)__atomic_fetch_add(&c->bytes, bytes - was, __ATOMIC_RELAXED);
}

/* Returns how many blocks were ever built. No thread may build blocks during the call. */
uint64_t ptc_fast_code_built(const struct ptc_fast_code *c);

/* Was any block built from code in [start, end), or ended because code was missing there? */
bool ptc_fast_code_knows(struct ptc_fast_code *c, uint64_t start, uint64_t end);
/*
 * Code in [start, end) has changed: these blocks become unbuilt. Returns false if there are none.
 * Else the caller must forget the chains.
 */
bool ptc_fast_code_drop(struct ptc_fast_code *c, uint64_t start, uint64_t end);

/* Returns the block at @ip, which may be unbuilt. NONE on failure. */
uint32_t ptc_fast_code_find(struct ptc_fast_hand *h, uint64_t ip, enum ptc_mode mode);

/* Build @block, which is unbuilt. */
void ptc_fast_code_build(struct ptc_fast_hand *h, uint32_t block);

/*
 * KINDS: the slot in front of the records of a block or chain has the number of records of each
 * kind. It is as large as a record. Callers that count branches need only KINDS.
 */
typedef uint8_t ptc_fast_kinds __attribute__((vector_size(sizeof(struct ptc_fast_rec))));

static inline ptc_fast_kinds ptc_fast_kinds_of(const struct ptc_fast_rec *recs)
{
	ptc_fast_kinds kinds;

	memcpy(&kinds, recs - 1, sizeof(kinds));
	return kinds;
}

/*
 * Write KINDS of the @n records at @recs (fewer than 256), and the first @nkept of these records,
 * to the arena's part. The part has space for them. Returns the index of the records, behind KINDS.
 */
uint32_t ptc_fast_hand_add_recs(struct ptc_fast_hand *h, const struct ptc_fast_rec *recs, size_t n,
				size_t nkept);

/* Returns @block, built. */
static inline const struct ptc_fast_block *ptc_fast_code_get(struct ptc_fast_hand *h,
							     uint32_t block)
{
	const struct ptc_fast_block *b = &h->code->blocks[block];

	if (ptc_fast_see(&b->end) == PTC_FAST_UNBUILT)
		ptc_fast_code_build(h, block);
	return b;
}

#endif
