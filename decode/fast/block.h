/* SPDX-License-Identifier: MIT */
/*
 * What code does between two places that need trace, found once and kept. A block begins at an
 * address, in a mode, and runs straight on, through direct jumps and calls, up to and with the next
 * instruction that needs trace: a jcc, a return, an indirect jump or call, a far transfer.
 *
 *	block --+-- insn insn jmp -- insn call -- insn ... jcc
 *		|	       |	  |		    |
 *		recs:	   from,to    from,to		from,to if it is taken
 *		pushes:		      the block behind the call
 *
 * Blocks are known by their numbers. All of it is of one state of the code: when some of that
 * changes, the blocks with code there are not built any more. What led to them still does: a number
 * is an address.
 *
 * Several threads may have the same (shared): then each of them may look up, build and follow
 * blocks at any time (see shared.h). Only who has it alone may forget or drop some.
 */
#ifndef PTC_DECODE_FAST_BLOCK_H
#define PTC_DECODE_FAST_BLOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arch/insn.h"
#include "decode/fast/hand.h"
#include "decode/fast/shared.h"

/* A transfer: its end and, below it, its kind; addresses have 56 bits, and a sign. */
struct ptc_fast_rec {
	uint64_t from_kind;
	uint64_t to;
};

static inline struct ptc_fast_rec ptc_fast_rec(uint64_t from, uint64_t to, enum ptc_kind kind)
{
	return (struct ptc_fast_rec){ from << 8 | (uint64_t)kind, to };
}

static inline uint64_t ptc_fast_rec_from(struct ptc_fast_rec r)
{
	return (uint64_t)((int64_t)r.from_kind >> 8);
}

static inline enum ptc_kind ptc_fast_rec_kind(struct ptc_fast_rec r)
{
	return (enum ptc_kind)(r.from_kind & 0xff);
}

/* Can it be the end of one? */
static inline bool ptc_fast_is_address(uint64_t ip)
{
	return (uint64_t)((int64_t)(ip << 8) >> 8) == ip;
}

/* How a block ends. */
enum ptc_fast_end {
	PTC_FAST_UNBUILT, /* nobody has looked yet */
	PTC_FAST_COND,	  /* a bit: next[taken] */
	PTC_FAST_RET,	  /* a bit, if what was pushed is where it went; or a TIP */
	PTC_FAST_JUMP,	  /* a TIP: indirect jumps, calls and far transfers */
	PTC_FAST_ON,	  /* nothing: it was long enough; next[0] */
	PTC_FAST_BAD,	  /* nobody knows: behind the last instruction there is no code */
};

enum {
	PTC_FAST_NONE = 0,	  /* no block has this number */
	PTC_FAST_MAX_INSNS = 250, /* of a block */
	PTC_FAST_MAX_RECS = 24,	  /* inside one, its end not counted */
	/*
	 * An end that led elsewhere so often is not asked first whether it leads to where it did
	 * the last time: that is faster where ends have many targets (bench_fast of xz: a tenth).
	 */
	PTC_FAST_STRAYS = 16,
};

/* One line of the processor's cache. */
struct ptc_fast_block {
	uint64_t ip;
	uint64_t end_ip;   /* of its last instruction, if it has any */
	uint32_t next[2];  /* blocks */
	uint64_t tip;	   /* where the end led when it was last needed; shared: at first; */
	uint32_t tip_next; /* and the block there: published */
	uint32_t recs;	   /* in recs: nrecs inside the block, and the one of its end; see KINDS */
	uint32_t pushes;   /* in pushes: npushes blocks */
	uint32_t lens;	   /* in lens: ninsns */
	uint8_t nrecs, npushes, ninsns;
	uint8_t end;	  /* enum ptc_fast_end; published when all else is there */
	uint8_t end_kind; /* enum ptc_kind, of the last instruction */
	uint8_t end_len;
	uint8_t mode;	/* enum ptc_mode */
	bool stays;	/* a jcc to the instruction behind it: never listed */
	uint8_t strays; /* a hint: how often it led elsewhere than tip, up to STRAYS */
	uint8_t heat;	/* a hint: how often it was passed; see chain.h */
	bool found;	/* claimed, by who found out what is there, and is to publish end */
};

static_assert(sizeof(struct ptc_fast_block) <= 64, "a block is a line");

/* What lens says of an instruction beside its length. */
enum {
	PTC_FAST_LEN = 0x0f,
	PTC_FAST_LEAPS = 0x10,	/* a direct jump or call: to where the next of recs says */
	PTC_FAST_PUSHES = 0x20, /* and its return address is the next of pushes */
};

/* Blocks by address and mode: open addressing. */
struct ptc_fast_index {
	unsigned int bits;
	uint32_t slots[]; /* 1 << bits; published */
};

enum { PTC_FAST_OLD = 16 };

struct ptc_fast_code {
	/* All owned, and where they are for good. */
	struct ptc_fast_block *blocks;
	struct ptc_fast_rec *recs;
	uint32_t *pushes;
	uint8_t *lens;
	size_t used[PTC_FAST_LISTS], cap[PTC_FAST_LISTS]; /* used: the parts of all hands */

	struct ptc_fast_index *index; /* owned; published */
	struct ptc_fast_index *old[PTC_FAST_OLD];
	unsigned int nold;	     /* smaller ones, that somebody may still look into */
	struct ptc_fast_hand *hands; /* owned; published */

	bool shared;
	pthread_mutex_t lock; /* shared: for who takes parts, or writes tip */

	unsigned int halved; /* so often, what there may be is; by whoever has several of these */
	size_t bytes;	     /* of all of it; a hint */
	bool full;	     /* over three quarters of what there may be; a hint */
	bool failed; /* out of memory, or more than there may be: what is asked for is NONE; a hint
		      */
};

/* It has no hand yet. False: out of memory. */
bool ptc_fast_code_init(struct ptc_fast_code *c);
void ptc_fast_code_release(struct ptc_fast_code *c);
/* Forget all blocks; numbers mean nothing any more. */
void ptc_fast_code_forget(struct ptc_fast_code *c);

/* Is it time to forget: over three quarters of what there may be? */
static inline bool ptc_fast_code_is_full(const struct ptc_fast_code *c)
{
	return ptc_fast_get_hint(&c->full) || ptc_fast_get_hint(&c->failed);
}

/* For who takes a part of a list, makes the index larger, or writes a block's tip. */
void ptc_fast_code_lock(struct ptc_fast_code *c);
void ptc_fast_code_unlock(struct ptc_fast_code *c);

/* How much memory it has. */
static inline size_t ptc_fast_code_bytes(const struct ptc_fast_code *c)
{
	return ptc_fast_get_hint(&c->bytes);
}

/* What had @was bytes has @bytes now. */
static inline void ptc_fast_code_count_bytes(struct ptc_fast_code *c, size_t was, size_t bytes)
{
	if (bytes != was)
		(void)__atomic_fetch_add(&c->bytes, bytes - was, __ATOMIC_RELAXED);
}

/* So many blocks were built, ever. Nobody builds one meanwhile. */
uint64_t ptc_fast_code_built(const struct ptc_fast_code *c);

/* Is there a block that was built of code of [start, end), or for want of some there? */
bool ptc_fast_code_knows(struct ptc_fast_code *c, uint64_t start, uint64_t end);
/* Code of [start, end) is not what it was: those blocks are not built any more. False: there was
 * none. Else chains are to be forgotten. */
bool ptc_fast_code_drop(struct ptc_fast_code *c, uint64_t start, uint64_t end);

/* The block at @ip, which may not be built; NONE if failed. */
uint32_t ptc_fast_code_find(struct ptc_fast_hand *h, uint64_t ip, enum ptc_mode mode);

/* Build what is not. */
void ptc_fast_code_build(struct ptc_fast_hand *h, uint32_t block);

/*
 * KINDS: in front of the records of a block, or a chain, is how many of each kind they are, in the
 * place of one: for who counts transfers, and need not look at them then.
 */
typedef uint8_t ptc_fast_kinds __attribute__((vector_size(sizeof(struct ptc_fast_rec))));

static inline ptc_fast_kinds ptc_fast_kinds_of(const struct ptc_fast_rec *recs)
{
	ptc_fast_kinds kinds;

	memcpy(&kinds, recs - 1, sizeof(kinds));
	return kinds;
}

/*
 * KINDS of the @n records at @recs, which are less than 256, and the first @nkept of those go into
 * the hand's part, which has room for them. Returns where those are, behind KINDS.
 */
uint32_t ptc_fast_hand_add_recs(struct ptc_fast_hand *h, const struct ptc_fast_rec *recs, size_t n,
				size_t nkept);

/* The block, built. */
static inline const struct ptc_fast_block *ptc_fast_code_get(struct ptc_fast_hand *h,
							     uint32_t block)
{
	const struct ptc_fast_block *b = &h->code->blocks[block];

	if (ptc_fast_see(&b->end) == PTC_FAST_UNBUILT)
		ptc_fast_code_build(h, block);
	return b;
}

#endif
