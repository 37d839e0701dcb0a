/* SPDX-License-Identifier: MIT */
/* Lists of queues by an id that changes with time, such as the thread that runs on a queue. */
#ifndef PTC_DECODE_TIMELINE_QUEUE_LISTS_H
#define PTC_DECODE_TIMELINE_QUEUE_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"

struct ptc_queue_link;

/* An all-zero struct has no queues. Queues are named by their index. */
struct ptc_queue_lists {
	struct ptc_idmap places; /* indexes into first, by id */
	size_t *first;		 /* owned; the first queue of each list; SIZE_MAX: none */
	size_t n, cap;
	struct ptc_queue_link *links; /* owned; by queue */
};

/* Prepares @l, which is zeroed, for @nqueues queues in no list. Returns false if out of memory. */
bool ptc_queue_lists_init(struct ptc_queue_lists *l, size_t nqueues);
void ptc_queue_lists_release(struct ptc_queue_lists *l);

/* Moves @queue to the list of @id. Returns false if out of memory. */
bool ptc_queue_lists_move(struct ptc_queue_lists *l, size_t queue, int32_t id);

/* Returns the first queue of the list of @id. SIZE_MAX: none. */
size_t ptc_queue_lists_first(const struct ptc_queue_lists *l, int32_t id);
/* Returns the queue behind @queue. SIZE_MAX: none. */
size_t ptc_queue_lists_next(const struct ptc_queue_lists *l, size_t queue);

#endif
