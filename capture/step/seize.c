/* SPDX-License-Identifier: MIT */
/* The beginning of a traced command: from the fork to the stop behind its exec. */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/err.h"
#include "capture/launch.h"
#include "capture/step/tracer.h"

/* Never PTRACE_O_EXITKILL: when we die, the target lives on. */
static const unsigned int options = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT | PTRACE_O_TRACECLONE |
				    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;

/* Let the seized child go on to its exec. */
static int await_exec(struct ptc_launch *l, pid_t pid, struct ptc_err *err)
{
	for (;;) {
		int status, sig;
		const pid_t got = waitpid(pid, &status, __WALL);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ptc_fail_sys(err, errno, "cannot wait for '%s'", l->path);
		if (!WIFSTOPPED(status) || status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			return ptc_launch_result(l, !WIFSTOPPED(status), err);
		/* a signal on the way there, or the stop for one */
		sig = status >> 16 ? 0 : WSTOPSIG(status);
		(void)ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig);
	}
}

int ptc_tracer_launch(char *const *argv, const sigset_t *mask, pid_t *ret_pid, struct ptc_err *err)
{
	struct ptc_launch l = PTC_LAUNCH_INIT;
	pid_t pid;
	int rc = ptc_launch_fork(&l, argv, mask, &pid, err);

	if (!rc && ptrace(PTRACE_SEIZE, pid, NULL, (void *)(unsigned long)options))
		rc = ptc_fail_sys(err, errno,
				  "cannot trace '%s' with ptrace (is it forbidden by a seccomp "
				  "profile or kernel.yama.ptrace_scope?)",
				  l.path);
	if (!rc)
		rc = ptc_launch_let_go(&l, err);
	if (!rc)
		rc = await_exec(&l, pid, err);
	if (!rc)
		*ret_pid = pid;
	ptc_launch_release(&l);
	return rc;
}
