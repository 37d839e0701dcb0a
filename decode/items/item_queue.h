/* SPDX-License-Identifier: MIT */
/* Items on their way from the decode of one queue to the sink. */
#ifndef PTC_DECODE_ITEMS_ITEM_QUEUE_H
#define PTC_DECODE_ITEMS_ITEM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/items/branch_rec.h"
#include "ptcap/decode.h"

/*
 * Items of one queue that are decoded and not yet handed over: [head, n), in order. With several
 * queues, items wait here until no other queue can produce an earlier one.
 */
struct ptc_out {
	struct ptc_item *items; /* owned */
	size_t head, n, cap;

	/*
	 * Branches of the RUN items, whose from is the index of the first one. [head, n) are not
	 * handed over yet. Other RUN items are lent: their branches are still where they were made,
	 * and from is the address.
	 */
	bool runs; /* there may be RUN items */
	size_t lent;
	struct {
		struct ptc_fast_rec *v; /* owned */
		size_t head, n, cap;
	} recs;

	uint64_t newest; /* no item is of a later time */
	bool failed;	 /* out of memory: checked once a step */

	/* Copied into every item. Same order as in struct ptc_item. */
	int32_t pid, tid, cpu;
	uint32_t queue;

	bool picky;			/* some items are not wanted */
	struct ptc_ids tids, cpus;	/* the wanted IDs; empty: all */
	struct ptc_decode_stats *stats; /* counts kept items; lent */
	uint64_t from_ns, to_ns; /* instructions of these times count in stats; to_ns 0: no end */
	uint64_t ran;		 /* instructions in total */
};

/* Count @insns instructions that ran at @time. */
static inline void ptc_out_ran(struct ptc_out *o, uint64_t insns, uint64_t time)
{
	const uint64_t ns = time == PTC_NO_TIME ? 0 : time;

	o->ran += insns;
	if (ns >= o->from_ns && (!o->to_ns || ns < o->to_ns))
		o->stats->insns += insns;
}

/* Is @id in @ids? An empty list contains all IDs. */
static inline bool ptc_ids_have(const struct ptc_ids *ids, int32_t id)
{
	size_t i;

	for (i = 0; i < ids->n; i++)
		if (ids->ranges[i].first <= id && id <= ids->ranges[i].last)
			return true;
	return !ids->n;
}

void ptc_out_init(struct ptc_out *o, uint32_t queue, const struct ptc_decode_opts *opts,
		  struct ptc_decode_stats *stats);
void ptc_out_release(struct ptc_out *o);

/* The memory of an empty struct ptc_out. */
struct ptc_out_room {
	struct ptc_item *items; /* owned */
	struct ptc_fast_rec *recs;
	size_t cap, recs_cap;
};

/* Give @room to @o, which is empty. Returns the memory that @o had. */
struct ptc_out_room ptc_out_swap_room(struct ptc_out *o, struct ptc_out_room room);
void ptc_out_room_release(struct ptc_out_room *room);

/* Reserve space for @more items and one. Returns false if out of memory. */
bool ptc_out_reserve(struct ptc_out *o, size_t more);

/* Returns how much waits: items, and branches of RUN items. */
static inline size_t ptc_out_waiting(const struct ptc_out *o)
{
	return o->n - o->head + (o->recs.n - o->recs.head) + o->lent;
}

/*
 * Removes the items from index @from on that @keep, called with @ctx, refuses. @keep may change an
 * item. It sees the branches of RUN items only by their number. stats do not change.
 */
void ptc_out_sift(struct ptc_out *o, size_t from, bool (*keep)(void *ctx, struct ptc_item *it),
		  void *ctx);

/* Fewer branches than this are not worth a RUN item. */
enum { PTC_OUT_RUN_MIN = 4 };

/*
 * Append @n branches as one RUN item. Requires runs, and not picky. @recs is lent until the items
 * are handed over, or until ptc_out_keep().
 */
void ptc_out_run(struct ptc_out *o, const struct ptc_fast_rec *recs, size_t n, uint64_t time);

/* Copy the lent branches, because their memory is needed. */
void ptc_out_keep(struct ptc_out *o);

/* Factor for the size of a batch with RUN items: the second-level cache has space for it. */
enum { PTC_OUT_RUN_BATCHES = 32 };

/*
 * Hand over the first @n items that wait. Their RUN items have addresses from now on. The addresses
 * are valid until the next append. Those of lent branches are valid as long as the lent memory.
 */
struct ptc_item *ptc_out_take(struct ptc_out *o, size_t n);

/*
 * Returns a branch as it would be appended now, without its ends and kind. For callers that append
 * themselves.
 */
static inline struct ptc_item ptc_out_stamp(const struct ptc_out *o, uint64_t time)
{
	return (struct ptc_item){ .time = time,
				  .pid = o->pid,
				  .tid = o->tid,
				  .cpu = o->cpu,
				  .queue = o->queue,
				  .type = PTC_ITEM_BRANCH };
}

/* Call after such appends: no item is later than @time. */
static inline void ptc_out_saw(struct ptc_out *o, uint64_t time)
{
	if (time != PTC_NO_TIME && time > o->newest)
		o->newest = time;
}

/*
 * Append an item. Returns NULL if it is not wanted, or if out of memory. The result lives until the
 * next append.
 */
struct ptc_item *ptc_out_branch(struct ptc_out *o, uint64_t from, uint64_t to, enum ptc_kind kind,
				uint64_t time);
struct ptc_item *ptc_out_insn(struct ptc_out *o, uint64_t ip, uint64_t time);
struct ptc_item *ptc_out_event(struct ptc_out *o, enum ptc_event_kind kind, uint64_t ip,
			       uint64_t value, uint64_t time);
void ptc_out_gap(struct ptc_out *o, enum ptc_gap_cause cause, uint64_t off, uint64_t len,
		 uint64_t time);
/* Insert PTC_GAP_LOST of length 0 behind the items up to @time: trace may be missing there. */
void ptc_out_lost(struct ptc_out *o, uint64_t off, uint64_t time);
/* Append PTC_GAP_SNAPSHOT for the queue, whichever thread runs then. */
void ptc_out_unkept(struct ptc_out *o, uint64_t off, uint64_t len, uint64_t time);

#endif
