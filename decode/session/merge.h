/* SPDX-License-Identifier: MIT */
/*
 * Merges the items of all queues in the order of their times. An item is handed over as soon as no
 * queue can produce an earlier one. Breaks come between them: places where a thread's trace of
 * several CPUs cannot be joined.
 */
#ifndef PTC_DECODE_SESSION_MERGE_H
#define PTC_DECODE_SESSION_MERGE_H

#include "base/winner_tree.h"

struct ptc_decode_stats;
struct ptc_err;
struct ptc_decode_input;
struct ptc_queue_decoder;
struct ptc_sink;

struct ptc_merge {
	struct ptc_decode_input *in;	/* lent */
	struct ptc_decode_stats *stats; /* lent; counts the breaks */
	uint64_t from_ns;		/* earlier breaks are not reported */
	struct ptc_least fronts;	/* for queues with items: time of the first item */
	struct ptc_least lows;		/* for live queues: no later item is before this time */
};

/* Begins a pass over all queues of @in. No queue has items or is live. */
int ptc_merge_begin(struct ptc_merge *m, struct ptc_decode_input *in,
		    struct ptc_decode_stats *stats, struct ptc_err *err);
void ptc_merge_release(struct ptc_merge *m);
/* Updates for a change of @l: its items, its time, or whether it is live. */
void ptc_merge_changed(struct ptc_merge *m, const struct ptc_queue_decoder *l);

/* Hand over the items that no later item can precede. PTC_E_STOPPED: the sink stopped. */
int ptc_merge_settled(struct ptc_merge *m, const struct ptc_sink *sink, struct ptc_err *err);
/* Hand over all other items, when no queue steps any more. */
int ptc_merge_rest(struct ptc_merge *m, const struct ptc_sink *sink, struct ptc_err *err);

#endif
