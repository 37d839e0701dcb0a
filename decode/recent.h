/* SPDX-License-Identifier: MIT */
/*
 * The last transfers of each thread, as they are replayed. Of how many threads there are and how
 * much they do memory does not depend: PTC_RECENT_TOTAL steps are kept of all of them together.
 * Before there are more, the threads that did nothing for the longest time are cut to
 * PTC_RECENT_LEAST each, and if that is not enough they are forgotten, which is counted.
 */
#ifndef PTC_DECODE_RECENT_H
#define PTC_DECODE_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/align.h"
#include "decode/live.h"
#include "ptcap/decode.h"

enum {
	PTC_RECENT_MAX = 1 << 15, /* kept at least, of a thread, while there is room: 1 MiB */
	PTC_RECENT_CAP = 1 << 16, /* at most: 2 MiB */
	PTC_RECENT_LEAST =
		1 << 13, /* of one that is cut for others, or of which no more is wanted */
	PTC_RECENT_TOTAL = 1 << 23, /* of all threads: 264 MiB */
};

struct ptc_recent_thread {
	int32_t tid;
	bool cut;		/* there were more */
	struct ptc_step *steps; /* owned; the oldest first */
	uint8_t *keys;		/* owned; of each step: ptc_recent_key */
	size_t n, cap;
	size_t ordered;	      /* from this step on times do not go back; no time is the first */
	uint64_t dropped;     /* in front of the first step */
	struct ptc_live live; /* the calls that have not returned in front of step number live_at */
	size_t live_at;
	uint64_t *stops; /* owned; ptc_recent_stops */
	size_t nstops, stops_cap;
	uint64_t stops_until;
};

/* Starts zeroed. */
struct ptc_recent {
	bool calls;  /* to be set before the first item: ptc_recent_live will be asked for */
	size_t most; /* steps of all threads; 0: PTC_RECENT_TOTAL */
	/* Whoever looks needs no more than a longest stack of all transfers of user space in front
	 * of this time. 0: as many as there are. */
	uint64_t since;
	struct ptc_recent_thread *threads; /* owned; ascending tid */
	size_t n, cap;
	size_t newest;	  /* the thread that was asked for last */
	size_t held;	  /* steps that there is room for, in all threads */
	size_t forgotten; /* so often a thread was */
};

void ptc_recent_release(struct ptc_recent *r);

/* What nearly all transfers that are not the same differ in. */
static inline uint8_t ptc_recent_key(uint64_t from, uint64_t to)
{
	return (uint8_t)((from + 3 * to) * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

/*
 * Transfers and gaps, up to the first item of the time @until. Gaps of a whole CPU, after which
 * somebody else may run, are in every thread. Returns how many were taken, or PTC_E_NO_MEMORY.
 */
ptrdiff_t ptc_recent_items(struct ptc_recent *r, uint64_t until, const struct ptc_item *items,
			   size_t n);

/* NULL: nothing is known of it. No steps: it was forgotten. Valid until the next item. */
struct ptc_recent_thread *ptc_recent_find(struct ptc_recent *r, int32_t tid);

/* The first of the last steps that are all not earlier than @since. No time is later than any. */
size_t ptc_recent_since(const struct ptc_recent_thread *t, uint64_t since);

/* Bring @t->live up to step number @at, if it is not further yet. False: out of memory. */
bool ptc_recent_live(struct ptc_recent_thread *t, size_t at);

/*
 * Bring @t->stops up to date: of its steps number @first and on those, but for the last one, behind
 * which the thread may lose its CPU; ascending, counted with the dropped ones. False: out of
 * memory.
 */
bool ptc_recent_stops(struct ptc_recent_thread *t, size_t first);

#endif
