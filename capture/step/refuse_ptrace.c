/* SPDX-License-Identifier: MIT */
#include "capture/step/refuse_ptrace.h"

#include <errno.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns true if @tid is in our PID namespace, so that process numbers mean the same. */
static bool is_in_our_pid_namespace(pid_t tid)
{
	struct stat ours, theirs;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)tid);
	return !stat(path, &theirs) && !stat("/proc/self/ns/pid", &ours) &&
	       ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

static bool is_thread_of(pid_t tid, pid_t pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return !access(path, F_OK);
}

/*
 * Returns true for threads of the tracer process and of its parent: ptcap, or another user of the
 * library.
 */
static bool is_ours(pid_t tid)
{
	return tid > 0 && (is_thread_of(tid, getpid()) || is_thread_of(tid, getppid()));
}

void ptc_refuse_call(struct ptc_task *k)
{
	const struct user_regs_struct *r = &k->before;
	struct user_regs_struct none = *r;

	if (k->insn.kind != PTC_KIND_SYSCALL || r->rax != SYS_ptrace ||
	    (r->rdi != PTRACE_ATTACH && r->rdi != PTRACE_SEIZE) || !is_ours((pid_t)r->rsi) ||
	    !is_in_our_pid_namespace(k->tid))
		return;
	none.rax = (unsigned long long)-1;
	k->refused = !ptrace(PTRACE_SETREGS, k->tid, NULL, &none);
}

void ptc_refuse_return(struct ptc_task *k)
{
	if (!k->refused || k->regs.rip == k->before.rip)
		return;
	k->refused = false;
	k->regs.rax = (unsigned long long)-EPERM;
	(void)ptrace(PTRACE_SETREGS, k->tid, NULL, &k->regs);
}
