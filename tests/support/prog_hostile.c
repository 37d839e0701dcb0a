/* SPDX-License-Identifier: MIT */
/*
 * Works against its recorder. usage: prog_hostile MODE. Prints "ready" when the action of MODE is
 * done, or "refused" if the kernel did not allow it. Then sleeps or works until its input ends,
 * prints "done", and exits with status 7.
 *
 *  deaf     ignores all signals that would end it
 *  back     ptraces its tracer, else its parent, and stops it
 *  parent   ptraces the parent of that process and stops it
 *  stop     sends SIGSTOP to its tracer, else its parent
 *  halt     sends SIGSTOP to the parent of that process
 *  itself   stops itself
 *  vfork    waits for a child of vfork(2), which waits for the input's end
 *  storm    as deaf, and has a child that forks the next one and ends, and so on
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *word)
{
	char line[32];
	const int n = snprintf(line, sizeof(line), "%s\n", word);

	(void)!write(STDOUT_FILENO, line, (size_t)n);
}

/* Returns a number from /proc/PID/status; 0: none. */
static pid_t number(pid_t pid, const char *key)
{
	char path[64], text[4096];
	const char *p;
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (n < 0)
		return 0;
	text[n] = '\0';
	p = strstr(text, key);
	return p ? (pid_t)strtol(p + strlen(key), NULL, 10) : 0;
}

static pid_t tracer(void)
{
	const pid_t pid = number(getpid(), "\nTracerPid:");

	return pid ? pid : getppid();
}

static bool input_has_ended(int timeout_ms)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&fd, 1, timeout_ms) == 1;
}

static int end(void)
{
	while (!input_has_ended(-1))
		;
	say("done");
	return 7;
}

static int deaf(void)
{
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_IGN);
	say("ready");
	return end();
}

/*
 * The tracer's stop sends SIGCHLD, which stops this process until the tracer continues it. But the
 * tracer is stopped too. So SIGCHLD is blocked until the test has the result.
 */
static int seize(pid_t pid)
{
	sigset_t child;
	bool ok;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, NULL);
	ok = !ptrace(PTRACE_SEIZE, pid, NULL, NULL) && !ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	say(ok ? "ready" : "refused");
	(void)sigprocmask(SIG_UNBLOCK, &child, NULL);
	return end();
}

static int hit(pid_t pid)
{
	const bool ok = !kill(pid, SIGSTOP);

	say(ok ? "ready" : "refused");
	return end();
}

static int child_of_vfork(void)
{
	if (!vfork()) {
		say("ready");
		while (!input_has_ended(-1))
			;
		_exit(0);
	}
	say("done");
	return 7;
}

/* Each child forks a moment later, because a machine must bear the load. */
static void storm(void)
{
	while (!input_has_ended(1))
		if (fork())
			break;
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "deaf"))
		return deaf();
	if (!strcmp(mode, "back"))
		return seize(tracer());
	if (!strcmp(mode, "parent"))
		return seize(number(tracer(), "\nPPid:"));
	if (!strcmp(mode, "stop"))
		return hit(tracer());
	if (!strcmp(mode, "halt"))
		return hit(number(tracer(), "\nPPid:"));
	if (!strcmp(mode, "vfork"))
		return child_of_vfork();
	if (!strcmp(mode, "storm") && !fork())
		storm();
	if (!strcmp(mode, "storm"))
		return deaf();
	if (strcmp(mode, "itself") != 0)
		return 2;
	say("ready");
	(void)raise(SIGSTOP);
	return end();
}
