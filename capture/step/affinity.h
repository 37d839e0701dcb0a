/* SPDX-License-Identifier: MIT */
/*
 * Tracer and targets on one CPU: two to three times as many steps a second,
 * because a stop then needs no wakeup across CPUs. The targets must not notice.
 */
#ifndef PTC_CAPTURE_STEP_AFFINITY_H
#define PTC_CAPTURE_STEP_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One thread's: the tracer's or a target's. */
struct ptc_affinity {
	cpu_set_t own; /* as it was, and as the thread should see it */
	bool pinned;
};

/* Pin @tid (0: the caller) to @cpu. If that cannot be done nothing is, and stepping is slower. */
void ptc_affinity_pin(struct ptc_affinity *a, pid_t tid, unsigned int cpu);

/*
 * Would the system call @nr show or hand on the pinning (sched_getaffinity,
 * fork, ...)? Then show before it and hide after it.
 */
bool ptc_affinity_visible(uint64_t nr);
void ptc_affinity_show(const struct ptc_affinity *a, pid_t tid);
void ptc_affinity_hide(struct ptc_affinity *a, pid_t tid, unsigned int cpu);

void ptc_affinity_unpin(struct ptc_affinity *a, pid_t tid);

#endif
