/* SPDX-License-Identifier: MIT */
/*
 * What a thread finds in the branch stack when it gets a CPU is another's, unless the kernel clears
 * it. Of threads that run the same code it looks like their own: it is looked for among the last
 * that the others took before they lost a CPU.
 *
 * For a stack of n entries it takes O(n) for each such place, at most O(PTC_FOREIGN_LOOK) a thread.
 * Of very many threads with very many places only those that ran last are looked at, until that
 * were PTC_FOREIGN_WORK steps.
 */
#ifndef PTC_DECODE_FOREIGN_H
#define PTC_DECODE_FOREIGN_H

#include <linux/perf_event.h>

#include "decode/align.h"
#include "decode/recent.h"

enum {
	PTC_FOREIGN_LOOK = 4096, /* steps of each other thread, the last ones */
	PTC_FOREIGN_WORK = 1 << 18,
};

/* Working memory, to be used again and again. Starts zeroed. */
struct ptc_foreign {
	size_t work; /* 0: PTC_FOREIGN_WORK */
	struct ptc_foreign_turn {
		uint64_t order; /* the time of its last step */
		size_t thread;
	} * turns; /* owned */
	size_t cap;
};

void ptc_foreign_release(struct ptc_foreign *f);

/*
 * As ptc_align_run, for a sample of the event @attr and of the thread @own. @in->foreign is set
 * here. An entry that is read differently as left over is ambiguous, unless what it would be by
 * itself makes far less sense. @ret->limited: not all other threads were looked at.
 */
int ptc_foreign_run(struct ptc_foreign *f, struct ptc_align *a, struct ptc_recent *r,
		    const struct ptc_recent_thread *own, const struct ptc_align_in *in,
		    const struct perf_event_attr *attr, struct ptc_align_entry *ret_entries,
		    struct ptc_align_result *ret);

#endif
