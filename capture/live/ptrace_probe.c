/* SPDX-License-Identifier: MIT */
#include "capture/live/ptrace_probe.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* No function that takes a lock: other threads may have held it when the process was copied. */
__attribute__((noreturn)) static void sleep_until_killed(void)
{
	for (;;)
		(void)syscall(SYS_pause);
}

int ptc_ptrace_probe(void)
{
	/* Without an exit signal: the caller's handler of SIGCHLD sees nothing of this child. */
	const pid_t pid = (pid_t)syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL);
	int refused;

	if (pid < 0)
		return errno;
	if (!pid)
		sleep_until_killed();
	refused = ptrace(PTRACE_SEIZE, pid, NULL, NULL) ? errno : 0;
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	return refused;
}
