/* SPDX-License-Identifier: MIT */
#include "capture/host/debugreg_probe.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DR7_EXEC_0 = 1, /* register 0, this task, execution (R/W 0, LEN 0): SDM volume 3, 18.2.4 */
	NONE = -1,	/* no status of a child */
};

__attribute__((noinline)) static void place(void)
{
	__asm__ volatile("");
}

static bool poke(pid_t pid, size_t reg, uint64_t value)
{
	return !ptrace(PTRACE_POKEUSER, pid,
		       (void *)(offsetof(struct user, u_debugreg) + reg * sizeof(long)),
		       (void *)value);
}

/* Returns the status of the next stop or of the end, or NONE. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return NONE;
	return status;
}

/* No function that takes a lock: other threads may have held it when the process was copied. */
__attribute__((noreturn)) static void be_traced(void)
{
	if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL)) {
		(void)syscall(SYS_kill, syscall(SYS_getpid), SIGSTOP);
		place();
	}
	for (;;)
		(void)syscall(SYS_exit_group, 0);
}

/* Returns the status after a breakpoint that @pid, which is stopped, is about to reach, or NONE if
 * it cannot be set. */
static int run_to_place(pid_t pid)
{
	if (!poke(pid, 0, (uint64_t)(uintptr_t)place) || !poke(pid, 7, DR7_EXEC_0) ||
	    ptrace(PTRACE_CONT, pid, NULL, NULL))
		return NONE;
	return wait_for(pid);
}

static bool tried(void)
{
	/* Without an exit signal: the caller's handler of SIGCHLD, or wait for any child, sees
	 * nothing of this child. */
	const pid_t pid = (pid_t)syscall(SYS_clone, 0L, NULL, NULL, NULL, NULL);
	int status;

	if (pid < 0)
		return true;
	if (!pid)
		be_traced();
	status = wait_for(pid);
	if (!WIFSTOPPED(status)) /* the child may not be traced, and has ended */
		return true;
	status = run_to_place(pid);
	if (status != NONE &&
	    !WIFSTOPPED(status)) /* the child has ended: another process may have its number now */
		return false;
	(void)kill(pid, SIGKILL);
	(void)wait_for(pid);
	return true;
}

bool ptc_hwbreak_works(void)
{
	enum { UNKNOWN, WORKS, FAILS };
	static int known =
		UNKNOWN; /* threads that find it out at the same time find out the same */
	int now = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (now == UNKNOWN) {
		now = tried() ? WORKS : FAILS;
		__atomic_store_n(&known, now, __ATOMIC_RELAXED);
	}
	return now == WORKS;
}
