/* SPDX-License-Identifier: MIT */
/*
 * The last branches of each thread, as they are decoded. Memory does not depend on the number of
 * threads or branches: all threads together keep PTC_THREAD_HISTORY_TOTAL steps. Before that limit
 * is exceeded, the threads that were idle longest are cut to PTC_THREAD_HISTORY_LEAST steps each.
 * If that is not enough, threads are forgotten, which is counted.
 */
#ifndef PTC_DECODE_LBR_THREAD_HISTORY_H
#define PTC_DECODE_LBR_THREAD_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/lbr/align.h"
#include "decode/lbr/call_stack_model.h"
#include "ptcap/decode.h"

enum {
	PTC_THREAD_HISTORY_MAX = 1 << 15,   /* guaranteed per thread while there is space: 1 MiB */
	PTC_THREAD_HISTORY_CAP = 1 << 16,   /* limit per thread: 2 MiB */
	PTC_THREAD_HISTORY_LEAST = 1 << 13, /* of a thread cut for others, or no more wanted */
	PTC_THREAD_HISTORY_TOTAL = 1 << 23, /* limit for all threads: 264 MiB */
};

struct ptc_thread_history_thread {
	int32_t tid;
	bool cut;		/* older steps were dropped */
	struct ptc_step *steps; /* owned; oldest first */
	uint8_t *keys;		/* owned; ptc_thread_history_key() of each step */
	size_t n, cap;
	size_t ordered;	      /* from this step on times ascend; no time sorts first */
	uint64_t dropped;     /* number of steps dropped from the front */
	struct ptc_live live; /* calls that have not returned in front of step live_at */
	size_t live_at;
	uint64_t *stops; /* owned; ptc_thread_history_stops */
	size_t nstops, stops_cap;
	uint64_t stops_until;
};

/* Zero-initialized. */
struct ptc_thread_history {
	bool calls;  /* set before the first item: ptc_thread_history_live() will be used */
	size_t most; /* limit for all threads; 0: PTC_THREAD_HISTORY_TOTAL */
	/*
	 * Readers need at most the longest stack of user-space branches in front of this time. 0:
	 * keep as many steps as possible.
	 */
	uint64_t since;
	struct ptc_thread_history_thread *threads; /* owned; ascending tid */
	size_t n, cap;
	size_t newest;	  /* index of the thread found last */
	size_t held;	  /* allocated steps of all threads */
	size_t forgotten; /* how many times a thread was forgotten */
};

void ptc_thread_history_release(struct ptc_thread_history *r);

/* Hash that differs for nearly all different branches. */
static inline uint8_t ptc_thread_history_key(uint64_t from, uint64_t to)
{
	return (uint8_t)((from + 3 * to) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

/*
 * Takes branches and gaps, up to the first item with the time @until. Gaps of a whole CPU, after
 * which another thread may run, are added to every thread. Returns how many items were taken, or
 * PTC_E_NO_MEMORY.
 */
ptrdiff_t ptc_thread_history_items(struct ptc_thread_history *r, uint64_t until,
				   const struct ptc_item *items, size_t n);

/*
 * Returns NULL if the thread is not known. A thread without steps was forgotten. Valid until the
 * next item.
 */
struct ptc_thread_history_thread *ptc_thread_history_find(struct ptc_thread_history *r,
							  int32_t tid);

/*
 * Returns the index of the first of the last steps that are all not earlier than @since. No time
 * counts as later than any time.
 */
size_t ptc_thread_history_since(const struct ptc_thread_history_thread *t, uint64_t since);

/* Brings @t->live up to step @at, if it is not further already. Returns false if out of memory. */
bool ptc_thread_history_live(struct ptc_thread_history_thread *t, size_t at);

/*
 * Brings @t->stops up to date: the steps from @first on behind which the thread may lose its CPU,
 * except the last step. They ascend, and dropped steps are counted. Returns false if out of memory.
 */
bool ptc_thread_history_stops(struct ptc_thread_history_thread *t, size_t first);

#endif
