/* SPDX-License-Identifier: MIT */
/* A counter for each thread. */
#ifndef PTC_BASE_TID_COUNTER_H
#define PTC_BASE_TID_COUNTER_H

#include <stddef.h>
#include <stdint.h>

struct ptc_tid_counter_entry {
	int32_t tid;
	uint64_t n;
};

struct ptc_tid_counter {
	struct ptc_tid_counter_entry *entries; /* owned; ascending tid */
	size_t n, cap;
	size_t newest; /* index of the entry used last */
};

void ptc_tid_counter_release(struct ptc_tid_counter *t);

/* Returns the counter of @tid, 0 at first, valid until the next call. NULL: out of memory. */
uint64_t *ptc_tid_counter_of(struct ptc_tid_counter *t, int32_t tid);

#endif
