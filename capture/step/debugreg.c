/* SPDX-License-Identifier: MIT */
#include "capture/step/debugreg.h"

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "capture/host/debugreg_probe.h"
#include "capture/step/task.h"

enum { DR7_EXEC_0 = 1 }; /* register 0, this task, execution (R/W 0, LEN 0): SDM volume 3, 18.2.4 */

static bool poke(const struct ptc_task *k, size_t reg, uint64_t value)
{
	return !ptrace(PTRACE_POKEUSER, k->tid,
		       (void *)(offsetof(struct user, u_debugreg) + reg * sizeof(long)),
		       (void *)value);
}

bool ptc_debugreg_watch(struct ptc_task *k, uint64_t addr)
{
	if (k->armed == addr)
		return true;
	if (k->armed && !poke(k, 7, 0))
		return false;
	k->armed = 0;
	if (addr && !ptc_hwbreak_works()) {
		errno = ENODEV;
		return false;
	}
	if (addr && (!poke(k, 0, addr) || !poke(k, 7, DR7_EXEC_0)))
		return false;
	k->armed = addr;
	return true;
}
