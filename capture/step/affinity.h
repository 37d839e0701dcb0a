/* SPDX-License-Identifier: MIT */
/*
 * Runs the tracer and its targets on one CPU. That makes stepping two to three times faster,
 * because a stop then needs no wakeup on another CPU. The targets must not notice.
 */
#ifndef PTC_CAPTURE_STEP_AFFINITY_H
#define PTC_CAPTURE_STEP_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Affinity of one thread: the tracer or a target. */
struct ptc_affinity {
	cpu_set_t own; /* the original mask, which the thread should see */
	bool pinned;
};

/*
 * Pins @tid (0: the caller) to @cpu. On failure the mask stays as it was, and stepping is slower.
 */
void ptc_affinity_pin(struct ptc_affinity *a, pid_t tid, unsigned int cpu);

/*
 * Returns true if system call @nr would show or inherit the pinning (sched_getaffinity, fork, ...).
 * Call ptc_affinity_show before such a call, and ptc_affinity_hide after it.
 */
bool ptc_affinity_visible(uint64_t nr);
void ptc_affinity_show(const struct ptc_affinity *a, pid_t tid);
void ptc_affinity_hide(struct ptc_affinity *a, pid_t tid, unsigned int cpu);

void ptc_affinity_unpin(struct ptc_affinity *a, pid_t tid);

#endif
