/* SPDX-License-Identifier: MIT */
#include "capture/step/affinity.h"

#include <sys/syscall.h>

void ptc_affinity_pin(struct ptc_affinity *a, pid_t tid)
{
	const int cpu = sched_getcpu();

	a->pinned = false;
	a->cpu = cpu < 0 ? 0 : (unsigned int)cpu;
	if (cpu < 0 || sched_getaffinity(tid, sizeof(a->own), &a->own) ||
	    sched_getaffinity(0, sizeof(a->tracer), &a->tracer))
		return;
	CPU_ZERO(&a->one);
	CPU_SET((size_t)cpu, &a->one);
	if (sched_setaffinity(0, sizeof(a->one), &a->one))
		return;
	if (sched_setaffinity(tid, sizeof(a->one), &a->one)) {
		(void)sched_setaffinity(0, sizeof(a->tracer), &a->tracer);
		return;
	}
	a->pinned = true;
}

bool ptc_affinity_visible(uint64_t nr)
{
	switch (nr) {
	case SYS_sched_getaffinity:
	case SYS_sched_setaffinity:
	case SYS_clone:
	case SYS_clone3:
	case SYS_fork:
	case SYS_vfork:
		return true;
	default:
		return false;
	}
}

void ptc_affinity_show(struct ptc_affinity *a, pid_t tid)
{
	if (a->pinned)
		(void)sched_setaffinity(tid, sizeof(a->own), &a->own);
}

/* The call may have been sched_setaffinity itself: what is there now is the target's own. */
void ptc_affinity_hide(struct ptc_affinity *a, pid_t tid)
{
	if (!a->pinned || sched_getaffinity(tid, sizeof(a->own), &a->own))
		return;
	(void)sched_setaffinity(tid, sizeof(a->one), &a->one);
}

void ptc_affinity_unpin(struct ptc_affinity *a, pid_t tid)
{
	if (!a->pinned)
		return;
	if (tid)
		(void)sched_setaffinity(tid, sizeof(a->own), &a->own);
	(void)sched_setaffinity(0, sizeof(a->tracer), &a->tracer);
	a->pinned = false;
}
