/* SPDX-License-Identifier: MIT */
/*
 * Tracer and target on one CPU: two to three times as many steps a second,
 * because a stop then needs no wakeup across CPUs. The target must not notice.
 */
#ifndef PTC_CAPTURE_STEP_AFFINITY_H
#define PTC_CAPTURE_STEP_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ptc_affinity {
	cpu_set_t own; /* the target's, as it should see it */
	cpu_set_t one;
	cpu_set_t tracer; /* the tracer's, to be restored */
	unsigned int cpu;
	bool pinned;
};

/* Pin the calling thread and @tid; if that cannot be done, nothing is and stepping is slower. */
void ptc_affinity_pin(struct ptc_affinity *a, pid_t tid);

/*
 * Would the system call @nr show or hand on the pinning (sched_getaffinity,
 * fork, ...)? Then show before it and hide after it.
 */
bool ptc_affinity_visible(uint64_t nr);
void ptc_affinity_show(struct ptc_affinity *a, pid_t tid);
void ptc_affinity_hide(struct ptc_affinity *a, pid_t tid);

/* Restore both. @tid 0: the target is gone. */
void ptc_affinity_unpin(struct ptc_affinity *a, pid_t tid);

#endif
