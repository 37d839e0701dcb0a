/* SPDX-License-Identifier: MIT */
/*
 * A thread that gets a CPU finds another thread's entries in the branch stack, unless the kernel
 * clears it. If both threads run the same code, these entries look like the thread's own. So the
 * oldest entries are searched among the last branches that other threads took before they lost a
 * CPU.
 *
 * For a stack of n entries each such place takes O(n), at most O(PTC_STALE_LOOK) per thread. With
 * very many threads and places, only the threads that ran last are looked at, up to
 * PTC_STALE_WORK steps.
 */
#ifndef PTC_DECODE_LBR_STALE_ENTRIES_H
#define PTC_DECODE_LBR_STALE_ENTRIES_H

#include <linux/perf_event.h>

#include "decode/lbr/align.h"
#include "decode/lbr/thread_history.h"

enum {
	PTC_STALE_LOOK = 4096, /* last steps of each other thread */
	PTC_STALE_WORK = 1 << 18,
};

/* Working memory, for reuse. Starts zeroed. */
struct ptc_stale {
	size_t work; /* limit of steps; 0: PTC_STALE_WORK */
	struct ptc_stale_turn {
		uint64_t order; /* the time of its last step, plus 1 */
		size_t thread;
	} * turns; /* owned */
	size_t cap;
};

void ptc_stale_release(struct ptc_stale *f);

/*
 * Same as ptc_align_run(), for a sample of the event @attr and of the thread @own. @in->foreign is
 * computed here. An entry that reads differently as a leftover is ambiguous. If the leftover
 * reading costs far less, it counts alone. @ret->limited: some other threads were not looked at.
 */
int ptc_stale_run(struct ptc_stale *f, struct ptc_align *a, struct ptc_thread_history *r,
		  const struct ptc_thread_history_thread *own, const struct ptc_align_in *in,
		  const struct perf_event_attr *attr, struct ptc_align_entry *ret_entries,
		  struct ptc_align_result *ret);

#endif
