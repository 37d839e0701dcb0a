/* SPDX-License-Identifier: MIT */
/* The last transfers of each thread, as they are replayed. */
#ifndef PTC_DECODE_RECENT_H
#define PTC_DECODE_RECENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/align.h"
#include "decode/live.h"
#include "ptcap/decode.h"

enum { PTC_RECENT_MAX = 1 << 15 }; /* kept at least, of a thread: 1 MiB, at most 2 */

struct ptc_recent_thread {
	int32_t tid;
	bool cut;		/* there were more */
	struct ptc_step *steps; /* owned; the oldest first */
	size_t n, cap, room;	/* room: so many fit without more ado */
	struct ptc_live live; /* the calls that have not returned in front of step number live_at */
	size_t live_at;
};

/* Starts zeroed. */
struct ptc_recent {
	bool calls; /* to be set before the first item: ptc_recent_live will be asked for */
	struct ptc_recent_thread *threads; /* owned; ascending tid */
	size_t n, cap;
	size_t newest; /* the thread that was asked for last */
};

void ptc_recent_release(struct ptc_recent *r);

/*
 * Transfers and gaps. Gaps of a whole CPU, after which somebody else may run, are in every
 * thread. False: out of memory.
 */
bool ptc_recent_items(struct ptc_recent *r, const struct ptc_item *items, size_t n);

/* NULL: nothing is known of it. Valid until the next item. */
struct ptc_recent_thread *ptc_recent_find(struct ptc_recent *r, int32_t tid);

/* Bring @t->live up to step number @at, if it is not further yet. False: out of memory. */
bool ptc_recent_live(struct ptc_recent_thread *t, size_t at);

#endif
