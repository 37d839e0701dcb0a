/* SPDX-License-Identifier: MIT */
/*
 * A thread's hand in some code: it looks up, builds and follows blocks with it. What is new goes
 * into parts of the code's lists that are this hand's alone, so that nobody waits for anybody, nor
 * writes to a line of the processor's cache that somebody else writes to:
 *
 *	recs:	a a a a a - | b b b b b b | b b - - - - | a a a - - -	  what hands a and b found
 *
 * All of it is found through the index and the tables of chains, and those have no owner: see
 * shared.h. Code that is one thread's has one hand.
 */
#ifndef PTC_DECODE_FAST_HAND_H
#define PTC_DECODE_FAST_HAND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/fast/pages.h"

struct ptc_fast_code;

/*
 * Where code bytes come from: up to @len of them at @ip, as many as there are side by side. What it
 * returns is how many; 0: there is no code.
 */
typedef size_t ptc_fast_read(const void *ctx, uint64_t ip, uint8_t *out, size_t len);

struct ptc_fast_source {
	ptc_fast_read *read;
	const void *ctx; /* lent */
};

enum ptc_fast_list {
	PTC_FAST_LIST_BLOCKS,
	PTC_FAST_LIST_RECS,
	PTC_FAST_LIST_PUSHES,
	PTC_FAST_LIST_LENS,
	PTC_FAST_LIST_LINKS, /* of pages, which hands have; they are only counted together */
	PTC_FAST_LISTS,
};

/* [at, end) of a list. */
struct ptc_fast_part {
	size_t at, end;
};

struct ptc_fast_hand {
	struct ptc_fast_code *code;    /* lent */
	struct ptc_fast_source source; /* of what is not built yet */
	uint32_t *tips;		       /* owned; see ptc_fast_tip */
	struct ptc_fast_part parts[PTC_FAST_LISTS];
	struct ptc_fast_pages pages; /* of the blocks that it built; */
	pthread_mutex_t lock;	     /* shared: for those, which others look into */
	uint64_t built, chains;	     /* that it made, ever */
	unsigned int unsaid; /* of its chains, so many were not counted with the others yet */
	struct ptc_fast_hand *next;
};

/* One more, with the code that @source has; it goes with @c. NULL: out of memory. */
struct ptc_fast_hand *ptc_fast_hand_new(struct ptc_fast_code *c,
					const struct ptc_fast_source *source);
/* For the code: with all that hands have. */
void ptc_fast_hands_release(struct ptc_fast_code *c);
/* The same: nothing is there any more. */
void ptc_fast_hands_forget(struct ptc_fast_code *c);

/*
 * What code has of each list, from the start: where they are does not change any more. False: out
 * of memory.
 */
bool ptc_fast_lists_init(struct ptc_fast_code *c);
void ptc_fast_lists_release(struct ptc_fast_code *c);

/* So many of @l there may be. */
size_t ptc_fast_list_max(const struct ptc_fast_code *c, enum ptc_fast_list l);

/*
 * With the lock: there is room for @n of @l in the hand's part, which ends at @max or in front of
 * that. False: that cannot be had.
 */
bool ptc_fast_hand_take(struct ptc_fast_hand *h, enum ptc_fast_list l, size_t n, size_t max);
/* The same without. */
bool ptc_fast_hand_reserve(struct ptc_fast_hand *h, enum ptc_fast_list l, size_t n, size_t max);

enum { PTC_FAST_TIPS_BITS = 12 };

/*
 * Blocks that addresses led to last, by those: where the block at @ip is, if that is known at all;
 * others may be there.
 */
static inline uint32_t *ptc_fast_tip(uint32_t *tips, uint64_t ip)
{
	return &tips[(ip ^ ip >> 15) * 0x9e3779b97f4a7c15 >> (64 - PTC_FAST_TIPS_BITS)];
}

#endif
