/* SPDX-License-Identifier: MIT */
/*
 * The arena of a thread for some code: the thread looks up, builds and follows blocks with its
 * arena. New data goes into parts of the code's lists that only this arena uses. So no thread waits
 * for another, and no two threads write to the same cache line:
 *
 *	recs:	a a a a a - | b b b b b b | b b - - - - | a a a - - -	  what arenas a and b found
 *
 * Data is found through the index and the tables of chains, which have no owner: see atomics.h.
 * Code that one thread uses has one arena.
 */
#ifndef PTC_DECODE_ENGINE_THREAD_ARENA_H
#define PTC_DECODE_ENGINE_THREAD_ARENA_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/engine/page_index.h"

struct ptc_fast_code;

/*
 * Reads up to @len contiguous bytes of code at @ip. Returns the number of bytes; 0: there is no
 * code.
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
	PTC_FAST_LIST_LINKS, /* of pages, in the arenas; the code only counts them */
	PTC_FAST_LISTS,
};

/* [at, end) of a list. */
struct ptc_fast_part {
	size_t at, end;
};

struct ptc_fast_hand {
	struct ptc_fast_code *code;    /* lent */
	struct ptc_fast_source source; /* of the code to build from */
	uint32_t *tips;		       /* owned; see ptc_fast_tip */
	struct ptc_fast_part parts[PTC_FAST_LISTS];
	struct ptc_fast_pages pages; /* of the blocks that it built */
	pthread_mutex_t lock;	     /* if shared: for pages, which other threads read */
	uint64_t built, chains;	     /* blocks and chains that it made, ever */
	unsigned int unsaid;	     /* its chains that are not counted in the total yet */
	struct ptc_fast_hand *next;
};

/* Create an arena with the code that @source has. @c owns it. NULL: out of memory. */
struct ptc_fast_hand *ptc_fast_hand_new(struct ptc_fast_code *c,
					const struct ptc_fast_source *source);
/* Release all arenas and their data. For the code. */
void ptc_fast_hands_release(struct ptc_fast_code *c);
/* Empty all arenas. For the code. */
void ptc_fast_hands_forget(struct ptc_fast_code *c);

/* Allocate the lists of @c. Their addresses do not change later. Returns false if out of memory. */
bool ptc_fast_lists_init(struct ptc_fast_code *c);
void ptc_fast_lists_release(struct ptc_fast_code *c);

/* Returns the limit of @l. */
size_t ptc_fast_list_max(const struct ptc_fast_code *c, enum ptc_fast_list l);

/*
 * With the lock: get space for @n of @l in the arena's part, so that the part does not end behind
 * @max. Returns false if that is not possible.
 */
bool ptc_fast_hand_take(struct ptc_fast_hand *h, enum ptc_fast_list l, size_t n, size_t max);
/* Same, without the lock. */
bool ptc_fast_hand_reserve(struct ptc_fast_hand *h, enum ptc_fast_list l, size_t n, size_t max);

enum { PTC_FAST_TIPS_BITS = 12 };

/*
 * The blocks that addresses last led to, by address. Returns the entry for @ip. It may have another
 * block.
 */
static inline uint32_t *ptc_fast_tip(uint32_t *tips, uint64_t ip)
{
	return &tips[(ip ^ ip >> 15) * 0x9e3779b97f4a7c15 >> (64 - PTC_FAST_TIPS_BITS)];
}

#endif
