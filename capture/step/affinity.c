/* SPDX-License-Identifier: MIT */
#include "capture/step/affinity.h"

#include <sys/syscall.h>

static bool set_one(pid_t tid, unsigned int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	return !sched_setaffinity(tid, sizeof(one), &one);
}

void ptc_affinity_pin(struct ptc_affinity *a, pid_t tid, unsigned int cpu)
{
	a->pinned = !sched_getaffinity(tid, sizeof(a->own), &a->own) && set_one(tid, cpu);
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

void ptc_affinity_show(const struct ptc_affinity *a, pid_t tid)
{
	if (a->pinned)
		(void)sched_setaffinity(tid, sizeof(a->own), &a->own);
}

/* Reads the mask again: the call may have been sched_setaffinity, and has changed it. */
void ptc_affinity_hide(struct ptc_affinity *a, pid_t tid, unsigned int cpu)
{
	if (a->pinned && !sched_getaffinity(tid, sizeof(a->own), &a->own))
		(void)set_one(tid, cpu);
}

void ptc_affinity_unpin(struct ptc_affinity *a, pid_t tid)
{
	if (a->pinned)
		(void)sched_setaffinity(tid, sizeof(a->own), &a->own);
	a->pinned = false;
}
