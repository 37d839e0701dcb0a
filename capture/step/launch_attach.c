/* SPDX-License-Identifier: MIT */
/* The beginning: starts a command up to the stop after its exec, or attaches to running tasks. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/err.h"
#include "capture/host/launch.h"
#include "capture/step/tracer.h"
#include "capture/step/trapflag.h"

/* Without PTRACE_O_EXITKILL: the targets survive the tracer's death. */
static const unsigned int options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACECLONE |
				    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
				    PTRACE_O_TRACESYSGOOD;

/*
 * Lets the seized child continue to its exec. Other threads that stop here are the child's own. A
 * fork handler of this process has created them, and the exec ends them.
 */
static int await_exec(struct ptc_launch *l, pid_t pid, struct ptc_err *err)
{
	for (;;) {
		int status, sig;
		const pid_t got = waitpid(-1, &status, __WALL);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ptc_fail_sys(err, errno, "cannot wait for '%s'", l->path);
		if (got == pid &&
		    (!WIFSTOPPED(status) || status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)))
			return ptc_launch_result(l, !WIFSTOPPED(status), err);
		if (!WIFSTOPPED(status))
			continue;
		/* a signal before the exec, or the stop for one */
		sig = status >> 16 ? 0 : WSTOPSIG(status);
		(void)ptrace(PTRACE_CONT, got, NULL, (void *)(long)sig);
	}
}

static void end(pid_t pid)
{
	int status;

	(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, __WALL) == pid ? WIFSTOPPED(status) : errno == EINTR)
		(void)ptrace(PTRACE_CONT, pid, NULL, NULL);
}

static int refuse_32bit(const char *path, struct ptc_err *err)
{
	return ptc_fail(err, PTC_E_BAD_COMMAND, "cannot step '%s': it is a 32-bit program", path);
}

int ptc_tracer_launch(char *const *argv, const sigset_t *mask, pid_t *ret_pid, struct ptc_err *err)
{
	struct ptc_launch l = PTC_LAUNCH_INIT;
	pid_t pid;
	int rc = ptc_launch_fork(&l, argv, mask, &pid, err);

	if (!rc && ptc_task_file_is_32bit(l.path))
		rc = refuse_32bit(l.path, err);
	if (!rc && ptrace(PTRACE_SEIZE, pid, NULL, (void *)(unsigned long)options))
		rc = ptc_fail_sys(err, errno,
				  "cannot trace '%s' with ptrace (forbidden by a seccomp profile "
				  "or kernel.yama.ptrace_scope?)",
				  l.path);
	if (!rc)
		rc = ptc_launch_let_go(&l, err);
	if (!rc)
		rc = await_exec(&l, pid, err);
	if (!rc && ptc_task_runs_32bit(pid)) { /* a script's interpreter; it has not run yet */
		end(pid);
		rc = refuse_32bit(l.path, err);
	}
	if (!rc)
		*ret_pid = pid;
	ptc_launch_release(&l);
	return rc;
}

/* --- attaching to running tasks --- */

/*
 * Waits for the stop that our PTRACE_INTERRUPT causes. Returns 0 with k->state set; ENDING if the
 * task is gone.
 */
static int await_stop(const struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	int status;

	(void)ptrace(PTRACE_INTERRUPT, k->tid, NULL, NULL);
	while (waitpid(k->tid, &status, __WALL) < 0)
		if (errno != EINTR)
			return ptc_fail_sys(err, errno, "cannot wait for thread %d", (int)k->tid);
		else if (atomic_load(&t->shared->want) == PTC_WANT_LEAVE)
			return ptc_fail(err, PTC_E_BUSY, "thread %d of process %d did not stop",
					(int)k->tid, (int)k->pid);
	if (!WIFSTOPPED(status)) {
		k->state = PTC_TASK_ENDING;
		return 0;
	}
	if (ptrace(PTRACE_GETREGS, k->tid, NULL, &k->regs))
		return ptc_fail_sys(err, errno, "cannot read registers of thread %d", (int)k->tid);
	k->ip = k->regs.rip;
	k->own_tf = ptc_trapflag_is_set(k);
	ptc_sigtrap_attach(k);
	k->state = PTC_TASK_READY;
	if (!(status >> 16))
		k->inject = WSTOPSIG(status);
	if (k->regs.cs != PTC_USER_CS || ptc_task_runs_32bit(k->tid))
		return ptc_fail(err, PTC_E_UNSUPPORTED,
				"cannot step process %d: it runs 32-bit code", (int)k->pid);
	if (ptc_stop_is_group(status)) {
		k->state = PTC_TASK_LISTENING;
		k->stop_signal = WSTOPSIG(status);
		(void)ptrace(PTRACE_LISTEN, k->tid, NULL, NULL);
	}
	/* If it slept in a system call, the kernel will restart the call. */
	k->restart_ip = ptc_task_restarts(&k->regs);
	return 0;
}

/* Returns 1 if a thread was added, 0 if it is already attached or gone. */
static int attach_one(struct ptc_tracer *t, pid_t tid, struct ptc_mm *mm, pid_t pid,
		      struct ptc_err *err)
{
	struct ptc_task *k;
	int rc;

	if (ptc_tasks_find(&t->tasks, tid))
		return 0;
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)(unsigned long)options))
		return errno == ESRCH ? 0 : ptc_task_refuse(tid, errno, err);
	k = ptc_tasks_add(&t->tasks, tid);
	if (!k) {
		(void)ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return ptc_fail_mem(err);
	}
	k->pid = pid;
	k->mm = ptc_mm_get(mm);
	k->reported = true; /* no EXIT record for a task that has not run under the tracer yet */
	rc = await_stop(t, k, err);
	if (!rc && k->state == PTC_TASK_ENDING)
		ptc_tasks_remove(&t->tasks, k);
	else
		k->reported = false;
	return rc ? rc : 1;
}

/*
 * Attaches every thread of the process. Repeats, because threads may create others until all are
 * stopped.
 */
static int attach_all(struct ptc_tracer *t, pid_t pid, struct ptc_mm *mm, struct ptc_err *err)
{
	char path[64];
	int rc, added;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	do {
		DIR *d = opendir(path);
		struct dirent *e;

		if (!d)
			return ptc_fail_sys(err, errno, "cannot open process %d", (int)pid);
		added = rc = 0;
		while (rc >= 0 && (e = readdir(d)))
			if (e->d_name[0] != '.') {
				rc = attach_one(t, (pid_t)strtol(e->d_name, NULL, 10), mm, pid,
						err);
				added += rc > 0;
			}
		(void)closedir(d);
	} while (rc >= 0 && added);
	return rc < 0 ? rc : 0;
}

int ptc_tracer_attach(struct ptc_tracer *t, pid_t pid, bool one, struct ptc_err *err)
{
	const pid_t process = ptc_task_process(pid);
	struct ptc_mm *mm;
	size_t i;
	int rc;

	if (process < 0)
		return ptc_fail_sys(err, ESRCH, "cannot open process %d", (int)pid);
	for (i = 0; i < t->tasks.n && t->tasks.items[i]->pid != process; i++)
		;
	mm = i < t->tasks.n ? ptc_mm_get(t->tasks.items[i]->mm) : ptc_mm_new();
	if (!mm)
		return ptc_fail_mem(err);
	rc = one ? attach_one(t, pid, mm, process, err) : attach_all(t, process, mm, err);
	ptc_mm_put(mm);
	if (rc >= 0 && !ptc_tasks_find(&t->tasks, pid) && one)
		rc = ptc_fail_sys(err, ESRCH, "cannot open thread %d", (int)pid);
	return rc < 0 ? rc : 0;
}
