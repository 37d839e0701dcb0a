/* SPDX-License-Identifier: MIT */
/* Which queue of trace a sideband record is about. Queues are named by their index. */
#ifndef PTC_DECODE_SIDEBAND_QUEUE_MAP_H
#define PTC_DECODE_SIDEBAND_QUEUE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"

struct ptc_sample_id;

/* The thread and the CPU whose trace a queue has; -1: any. */
struct ptc_queue_id {
	int32_t tid, cpu;
};

/* An all-zero struct has no queues. */
struct ptc_queue_map {
	struct ptc_queue_id *ids; /* owned; by queue */
	size_t n, cap;
	struct ptc_idmap of_tid, of_cpu; /* the first queue of each id */
};

void ptc_queue_map_release(struct ptc_queue_map *m);

/* Appends a queue. Returns false if out of memory. */
bool ptc_queue_map_add(struct ptc_queue_map *m, int32_t tid, int32_t cpu);

/*
 * Returns the queue that a record with @id is about: by thread or by cpu, else the first. SIZE_MAX:
 * there are no queues.
 */
size_t ptc_queue_map_find(const struct ptc_queue_map *m, const struct ptc_sample_id *id);

#endif
