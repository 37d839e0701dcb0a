/* SPDX-License-Identifier: MIT */
/* Items on their way from one queue's replay to the sink. */
#ifndef PTC_DECODE_ITEM_H
#define PTC_DECODE_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/fast/block.h"
#include "ptcap/decode.h"

/*
 * What one queue has decoded and not yet handed over: items [head, n), in
 * order. With several queues, items wait here until no other queue can come
 * up with an earlier one.
 */
struct ptc_out {
	struct ptc_item *items; /* owned */
	size_t head, n, cap;
	size_t front;  /* where those in an empty one begin: what others may be put into later */
	size_t hidden; /* items behind n that have been decoded, and are not to be seen yet */

	/*
	 * Of the RUN items among them, whose from says where they begin. [head, n) are left. Others
	 * are still where they were made: so many are, and from is their address.
	 */
	bool runs; /* there may be some */
	size_t lent;
	struct {
		struct ptc_fast_rec *v; /* owned */
		size_t head, n, cap;
	} recs;

	uint64_t newest; /* none of them is of a later time */
	bool failed;	 /* out of memory: checked once a step */

	/* Stamped on every item; in the order they have there. */
	int32_t pid, tid, cpu;
	uint32_t queue;

	bool picky;			/* some are not wanted: */
	struct ptc_ids tids, cpus;	/* drop the others; none: keep all */
	struct ptc_decode_stats *stats; /* of what is kept; lent */
	uint64_t from_ns, to_ns; /* instructions of these times count there; to_ns 0: no end */
	uint64_t ran;		 /* instructions in all */
};

/* @insns ran at @time. */
static inline void ptc_out_ran(struct ptc_out *o, uint64_t insns, uint64_t time)
{
	const uint64_t ns = time == PTC_NO_TIME ? 0 : time;

	o->ran += insns;
	if (ns >= o->from_ns && (!o->to_ns || ns < o->to_ns))
		o->stats->insns += insns;
}

/* Is @id one of @ids? */
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

/* The memory of an empty one. */
struct ptc_out_room {
	struct ptc_item *items; /* owned */
	struct ptc_fast_rec *recs;
	size_t cap, recs_cap;
};

/* @o, which is empty, has @room from now on. What it had is returned. */
struct ptc_out_room ptc_out_swap_room(struct ptc_out *o, struct ptc_out_room room);
void ptc_out_room_release(struct ptc_out_room *room);

/* Keep room for @n in front of those to come; there are none yet. */
void ptc_out_keep_front(struct ptc_out *o, size_t n);

/* Room for @more than the one item that there is always room for when this was true. */
bool ptc_out_reserve(struct ptc_out *o, size_t more);

/* How much waits: items, and transfers of RUN items. */
static inline size_t ptc_out_waiting(const struct ptc_out *o)
{
	return o->n - o->head + (o->recs.n - o->recs.head) + o->lent;
}

/* As many as this, at least, are worth a RUN item. */
enum { PTC_OUT_RUN_MIN = 4 };

/*
 * Append @n transfers as one RUN item: where runs is set, and not picky, none being left out. They
 * are lent until they are handed over, or ptc_out_keep.
 */
void ptc_out_run(struct ptc_out *o, const struct ptc_fast_rec *recs, size_t n, uint64_t time);

/* Copy those that are lent: their memory is wanted. */
void ptc_out_keep(struct ptc_out *o);

/* A batch may be so many times as large where there are RUN items: the second cache has room. */
enum { PTC_OUT_RUN_BATCHES = 32 };

/*
 * The first @n of those that wait are handed over. Their RUN items have addresses from now on,
 * which are good until the next append, and what was lent as long as that is.
 */
struct ptc_item *ptc_out_take(struct ptc_out *o, size_t n);

/* The @n at @items, in @to, were copied from @from: RUN items among them bring their transfers. */
bool ptc_out_adopt(struct ptc_out *to, struct ptc_item *items, size_t n,
		   const struct ptc_out *from);

/* A transfer as it is appended now, without its ends and kind. For those who append themselves. */
static inline struct ptc_item ptc_out_stamp(const struct ptc_out *o, uint64_t time)
{
	return (struct ptc_item){ .time = time,
				  .pid = o->pid,
				  .tid = o->tid,
				  .cpu = o->cpu,
				  .queue = o->queue,
				  .type = PTC_ITEM_BRANCH };
}

/* And behind those that were appended so: they are not later than @time. */
static inline void ptc_out_saw(struct ptc_out *o, uint64_t time)
{
	if (time != PTC_NO_TIME && time > o->newest)
		o->newest = time;
}

/* Append an item. NULL: not wanted (or out of memory). The result lives until the next append. */
struct ptc_item *ptc_out_branch(struct ptc_out *o, uint64_t from, uint64_t to, enum ptc_kind kind,
				uint64_t time);
struct ptc_item *ptc_out_insn(struct ptc_out *o, uint64_t ip, uint64_t time);
struct ptc_item *ptc_out_event(struct ptc_out *o, enum ptc_event_kind kind, uint64_t ip,
			       uint64_t value, uint64_t time);
void ptc_out_gap(struct ptc_out *o, enum ptc_gap_cause cause, uint64_t off, uint64_t len,
		 uint64_t time);
/* PTC_GAP_LOST of length 0, behind what is not later than @time: some of that may be there. */
void ptc_out_lost(struct ptc_out *o, uint64_t off, uint64_t time);
/* PTC_GAP_SNAPSHOT: the queue's, whoever runs then. */
void ptc_out_unkept(struct ptc_out *o, uint64_t off, uint64_t len, uint64_t time);

#endif
