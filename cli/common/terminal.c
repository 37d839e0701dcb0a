/* SPDX-License-Identifier: MIT */
#include "cli/common/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "cli/common/cli.h"

enum { BAR = 40, COLUMNS_MIN = 40, COLUMNS_DEFAULT = 80, COLUMNS_MAX = 10000 };

bool ptc_terminal_has_colors(void)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 && !(no && *no);
}

size_t ptc_terminal_columns(void)
{
	const char *asked = getenv("COLUMNS");
	struct winsize size = { .ws_col = 0 };
	uint64_t n = 0;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		n = size.ws_col;
	if (!n && (!asked || !ptc_parse_u64(asked, &n) || n > COLUMNS_MAX))
		n = 0;
	if (!n)
		return COLUMNS_DEFAULT;
	return n < COLUMNS_MIN ? COLUMNS_MIN : n;
}

/* Runs in the child. @go, @in: pipes written by the parent. */
static void exec_pager(const char *pager, const int go[2], const int in[2])
{
	char byte;

	(void)close(go[1]);
	(void)close(in[1]);
	if (read(go[0], &byte, 1) != 1) /* nothing to show */
		_exit(0);
	/* Exit if the text fits a screen, show colors, keep the text on the screen. */
	(void)setenv("LESS", "FRX", 0);
	if (dup2(in[0], STDIN_FILENO) < 0)
		_exit(127);
	execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(127);
}

/* Return whether the program @name (@len bytes) is in @folder (@folder_len bytes). */
static bool is_in(const char *folder, size_t folder_len, const char *name, size_t len)
{
	char path[PATH_MAX];
	struct stat st;
	const int n = snprintf(path, sizeof(path), "%.*s%s%.*s", (int)folder_len, folder,
			       folder_len ? "/" : "", (int)len, name);

	return n > 0 && (size_t)n < sizeof(path) && !stat(path, &st) && S_ISREG(st.st_mode) &&
	       !access(path, X_OK);
}

/*
 * Return whether the shell would find the pager, because output to a missing pager is lost. Checks
 * the first word of @pager after variable assignments. A word with shell expansions counts as
 * found.
 */
static bool is_there(const char *pager)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_./+,@";
	const char *path = getenv("PATH");
	size_t len;

	for (;; pager += strcspn(pager, " \t")) {
		pager += strspn(pager, " \t");
		len = strspn(pager, plain);
		if (pager[len] != '=')
			break;
	}
	if (!len || !strchr(" \t", pager[len])) /* strchr also finds the terminating NUL */
		return *pager;
	if (memchr(pager, '/', len))
		return is_in("", 0, pager, len);
	if (!path)
		path = "/usr/bin:/bin";
	for (;; path++) {
		const size_t n = strcspn(path, ":");

		if (n ? is_in(path, n, pager, len) : is_in(".", 1, pager, len))
			return true;
		path += n;
		if (!*path)
			return false;
	}
}

/* For signal handlers: the running pager, and whether a handler is about to end the process. */
static volatile sig_atomic_t pager_pid, ending;
static int kept[2] = { -1, -1 }; /* standard output and error, while the pager has them */
static int nowhere = -1;	 /* /dev/null, opened before the sandbox can forbid it */

/*
 * Restore standard output and error. @fds NULL: redirect them to /dev/null, which ends the pager's
 * input.
 */
static void give_back(const int *fds)
{
	(void)dup2(fds ? fds[0] : nowhere, STDOUT_FILENO);
	(void)dup2(fds ? fds[1] : nowhere, STDERR_FILENO);
}

static int wait_for_pager(void)
{
	int status = 0;

	while (waitpid((pid_t)pager_pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return status;
}

/*
 * Returns the message for a pager that ended with @status. NULL: none, for example if the user quit
 * it.
 */
static const char *complaint(int status)
{
	const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE && WTERMSIG(status) != SIGINT)
		return "a signal killed the pager; the output may be incomplete";
	if (code == 126 || code == 127) /* exit codes of the shell */
		return "cannot run the pager; set PAGER, or use --no-pager";
	return NULL;
}

/* Signal handler: the pager closed its input, because the user quit. */
static void on_gone(int sig)
{
	static const char begin[] = "ptcap: ";
	const char *text;

	(void)sig;
	ending = 1;
	give_back(NULL);
	text = complaint(wait_for_pager());
	if (!text)
		_exit(PTC_EXIT_OK);
	if (write(kept[1], begin, sizeof(begin) - 1) > 0 && write(kept[1], text, strlen(text)) > 0)
		(void)!write(kept[1], "\n", 1);
	_exit(PTC_EXIT_FAIL);
}

/*
 * ^C also reaches the pager, which owns the terminal until the user quits it. ptcap then dies of
 * SIGINT.
 */
static void on_interrupt(int sig)
{
	ending = 1;
	give_back(NULL);
	(void)wait_for_pager();
	(void)signal(sig, SIG_DFL);
	(void)kill(getpid(), sig);
}

static struct sigaction old_pipe, old_int;

static void take_signals(void)
{
	const struct sigaction gone = { .sa_handler = on_gone };
	const struct sigaction interrupt = { .sa_handler = on_interrupt };

	(void)sigaction(SIGPIPE, &gone, &old_pipe);
	if (!sigaction(SIGINT, NULL, &old_int) && old_int.sa_handler != SIG_IGN)
		(void)sigaction(SIGINT, &interrupt, NULL);
}

/* Redirect standard output to the pager, and standard error if it is a terminal. */
static void hand_over(int fd)
{
	kept[0] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	kept[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (isatty(STDERR_FILENO))
		(void)dup2(fd, STDERR_FILENO);
	(void)dup2(fd, STDOUT_FILENO);
}

static void close_all(const int *fds, size_t n)
{
	while (n--)
		if (fds[n] >= 0)
			(void)close(fds[n]);
}

void ptc_pager_prepare(struct ptc_pager *p)
{
	const char *pager = getenv("PAGER");
	int go[2] = { -1, -1 }, in[2] = { -1, -1 };

	if (!pager)
		pager = "less";
	if (!isatty(STDOUT_FILENO) || !*pager || !strcmp(pager, "cat"))
		return;
	if (!is_there(pager)) {
		if (getenv("PAGER"))
			ptc_say("cannot find the pager '%s'", pager);
		return;
	}
	fflush(NULL);
	nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nowhere >= 0 && !pipe2(go, O_CLOEXEC) && !pipe2(in, O_CLOEXEC))
		p->pid = fork();
	if (!p->pid && in[0] >= 0)
		exec_pager(pager, go, in);
	if (p->pid <= 0) {
		close_all(&nowhere, 1);
		*p = (struct ptc_pager)PTC_PAGER_INIT;
		close_all(go, 2);
		close_all(in, 2);
		return;
	}
	p->go = go[1];
	p->input = in[1];
	(void)close(go[0]);
	(void)close(in[0]);
}

void ptc_pager_start(struct ptc_pager *p)
{
	if (!p->pid || write(p->go, "", 1) != 1)
		return;
	fflush(NULL);
	pager_pid = (sig_atomic_t)p->pid;
	take_signals();
	hand_over(p->input);
	(void)close(p->input);
	p->input = -1;
}

/* Another thread may be in a signal handler, which waits for the pager and ends the process. */
static void leave_to_handler(void)
{
	while (ending)
		(void)poll(NULL, 0, -1);
}

/* Wait for the pager. On its failure prints a message and returns false. */
static bool finish_shown(void)
{
	const char *text;

	fflush(NULL);
	give_back(NULL);
	leave_to_handler();
	text = complaint(wait_for_pager());
	leave_to_handler();
	(void)sigaction(SIGPIPE, &old_pipe, NULL);
	(void)sigaction(SIGINT, &old_int, NULL);
	give_back(kept);
	close_all(kept, 2);
	if (text)
		ptc_say("%s", text);
	return !text;
}

bool ptc_pager_finish(struct ptc_pager *p)
{
	bool shown = true;

	if (!p->pid)
		return true;
	(void)close(p->go);
	if (p->input < 0) {
		shown = finish_shown();
	} else {
		(void)close(p->input);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	(void)close(nowhere);
	*p = (struct ptc_pager)PTC_PAGER_INIT;
	return shown;
}

bool ptc_progress_start(struct ptc_progress *p, const struct ptc_decode *d,
			const struct ptc_sink *sink)
{
	struct ptc_err err;

	*p = (struct ptc_progress){ .sink = sink };
	if (!isatty(STDERR_FILENO) || isatty(STDOUT_FILENO) ||
	    ptc_decode_get_times(d, &p->first_ns, &p->last_ns, &err) < 0)
		return false;
	p->next_ns = ptc_monotonic_ns() + 1000000000;
	return true;
}

static void say(struct ptc_progress *p, uint64_t time_ns)
{
	const uint64_t span = p->last_ns - p->first_ns;
	uint64_t at = time_ns > p->first_ns ? time_ns - p->first_ns : 0;
	int percent;

	at = at < span ? at : span;
	percent = span ? (int)((double)at * 100 / (double)span) : 100;
	fprintf(stderr, "\r[%-*.*s] %3d%%", BAR, percent * BAR / 100,
		"########################################", percent);
	p->said = true;
}

void ptc_progress_at(struct ptc_progress *p, uint64_t time_ns)
{
	const uint64_t now = ptc_monotonic_ns();

	if (now < p->next_ns || time_ns == PTC_NO_TIME)
		return;
	say(p, time_ns);
	p->next_ns = now + 200000000;
}

int ptc_progress_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_progress *p = ctx;

	ptc_progress_at(p, items[n - 1].time);
	return p->sink->on_items(p->sink->ctx, items, n);
}

void ptc_progress_finish(const struct ptc_progress *p)
{
	if (p->said)
		fprintf(stderr, "\r%*s\r", BAR + 8, "");
}
