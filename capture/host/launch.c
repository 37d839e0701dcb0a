/* SPDX-License-Identifier: MIT */
#include "capture/host/launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/find_program.h"

/* Runs in the child. Only async-signal-safe calls: the parent may have threads. */
static _Noreturn void child(int fd, const struct ptc_launch *l, char *const *argv,
			    char *const *sh_argv, const sigset_t *mask)
{
	char *const *env = l->env ? l->env : environ;
	char go;
	int sys;
	ssize_t n;

	do
		n = read(fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1) /* the parent gave up */
		_exit(127);
	(void)pthread_sigmask(SIG_SETMASK, mask, NULL);
	(void)execve(l->path, argv, env);
	sys = errno;
	if (sys == ENOEXEC) /* a script without #!: execvp(3) and every shell use /bin/sh */
		(void)execve("/bin/sh", sh_argv, env);
	(void)!write(fd, &sys, sizeof(sys));
	_exit(127);
}

static void reap(pid_t pid)
{
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

/* Returns the arguments of /bin/sh for a script without #!: "sh", the path, the arguments. */
static char **shell_argv(const char *path, char *const *argv)
{
	size_t argc = 0;
	char **sh;

	while (argv[argc])
		argc++;
	sh = calloc(argc + 3, sizeof(*sh));
	if (!sh)
		return NULL;
	sh[0] = (char *)"sh";
	sh[1] = (char *)path;
	if (argc)
		memcpy(sh + 2, argv + 1, argc * sizeof(*sh)); /* the terminating NULL too */
	return sh;
}

int ptc_launch_fork(struct ptc_launch *l, char *const *argv, const sigset_t *mask, pid_t *ret_pid,
		    struct ptc_err *err)
{
	sigset_t own;
	char **sh_argv;
	int fd[2], sys;
	int rc = ptc_find_program(argv[0], &l->path, err);

	if (rc)
		return rc;
	(void)pthread_sigmask(SIG_SETMASK, NULL, &own);
	sh_argv = shell_argv(l->path, argv);
	if (!sh_argv)
		return ptc_fail_mem(err);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd)) {
		free(sh_argv);
		return ptc_fail_sys(err, errno, "cannot create a socket pair");
	}
	l->pid = fork();
	if (!l->pid) {
		(void)close(fd[0]);
		child(fd[1], l, argv, sh_argv, mask ? mask : &own);
	}
	sys = errno;
	free(sh_argv);
	(void)close(fd[1]);
	l->fd = fd[0];
	if (l->pid < 0) {
		l->pid = 0;
		return ptc_fail_sys(err, sys, "cannot fork");
	}
	*ret_pid = l->pid;
	return 0;
}

int ptc_launch_let_go(struct ptc_launch *l, struct ptc_err *err)
{
	if (send(l->fd, "g", 1, MSG_NOSIGNAL) == 1)
		return 0;
	return ptc_fail_sys(err, errno, "cannot start '%s'", l->path);
}

int ptc_launch_result(struct ptc_launch *l, bool reaped, struct ptc_err *err)
{
	const pid_t pid = l->pid;
	ssize_t n;
	int sys = 0;

	do /* an exec closes the other end */
		n = read(l->fd, &sys, sizeof(sys));
	while (n < 0 && errno == EINTR);
	l->pid = 0;
	if (n != (ssize_t)sizeof(sys)) {
		if (!reaped)
			return 0;
		return ptc_fail(err, PTC_E_BAD_COMMAND, "'%s' ended before it was started",
				l->path);
	}
	if (!reaped)
		reap(pid);
	return ptc_program_error(l->path, sys, err);
}

void ptc_launch_release(struct ptc_launch *l)
{
	if (l->fd >= 0)
		(void)close(l->fd); /* a child that still waits reads end-of-file and exits */
	if (l->pid)
		reap(l->pid);
	free(l->path);
	*l = (struct ptc_launch)PTC_LAUNCH_INIT;
}
