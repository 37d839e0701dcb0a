/* SPDX-License-Identifier: MIT */
/*
 * Steps a queue of a shard. The items of the shard pass, and items of other shards are dropped.
 * Between the borders nothing is checked but the position.
 */
#ifndef PTC_DECODE_SESSION_SHARD_QUEUE_H
#define PTC_DECODE_SESSION_SHARD_QUEUE_H

#include <stdbool.h>

struct ptc_decode_stats;
struct ptc_err;
struct ptc_queue_decoder;
struct ptc_scheduler;

/* Call it when the replay of @l is new. Returns false if the shard has nothing of the queue. */
bool ptc_shard_queue_begin(struct ptc_queue_decoder *l);
/* As ptc_queue_decoder_steps(). Items of other shards do not count in @stats. */
int ptc_shard_queue_steps(struct ptc_queue_decoder *l, struct ptc_scheduler *plan,
			  struct ptc_decode_stats *stats, struct ptc_err *err);
/* Returns true if all items to come belong to later shards. */
bool ptc_shard_queue_is_over(const struct ptc_queue_decoder *l);
/* Records were lost, and a gap was listed: drops it if it belongs to another shard. */
void ptc_shard_queue_lost(struct ptc_queue_decoder *l, struct ptc_decode_stats *stats);

#endif
