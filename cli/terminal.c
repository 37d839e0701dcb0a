/* SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { BAR = 40 };

bool ptc_terminal_has_colors(void)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 && !(no && *no);
}

/* In the child. @go, @in: pipes; the parent writes to them. */
static void show(const char *pager, const int go[2], const int in[2])
{
	char byte;

	(void)close(go[1]);
	(void)close(in[1]);
	if (read(go[0], &byte, 1) != 1) /* there is nothing to show */
		_exit(0);
	/* Leave at once if it fits a screen, show colours, leave the text there. */
	(void)setenv("LESS", "FRX", 0);
	if (dup2(in[0], STDIN_FILENO) < 0)
		_exit(127);
	execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(127);
}

/* Is the program @name, of @len bytes, in @folder, of @folder_len bytes? */
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
 * Would the shell find a pager? What is written to one that is missing is lost. The first word of
 * @pager is looked for, behind what it sets of the environment. A word that the shell expands
 * counts as found.
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
	if (!len || !strchr(" \t", pager[len])) /* strchr finds the end, too */
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
			ptc_say("there is no pager '%s'", pager);
		return;
	}
	fflush(NULL);
	p->nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (p->nowhere >= 0 && !pipe2(go, O_CLOEXEC) && !pipe2(in, O_CLOEXEC))
		p->pid = fork();
	if (!p->pid && in[0] >= 0)
		show(pager, go, in);
	if (p->pid <= 0) {
		close_all(&p->nowhere, 1);
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
	if (isatty(STDERR_FILENO))
		(void)dup2(p->input, STDERR_FILENO);
	(void)dup2(p->input, STDOUT_FILENO);
	(void)close(p->input);
	p->input = -1;
}

void ptc_pager_finish(struct ptc_pager *p)
{
	if (!p->pid)
		return;
	fflush(NULL);
	/* The end of the pager's input. */
	if (p->input < 0) {
		(void)dup2(p->nowhere, STDOUT_FILENO);
		(void)dup2(p->nowhere, STDERR_FILENO);
	}
	close_all((const int[]){ p->go, p->input, p->nowhere }, 3);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*p = (struct ptc_pager)PTC_PAGER_INIT;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

bool ptc_progress_start(struct ptc_progress *p, const struct ptc_decode *d,
			const struct ptc_sink *sink)
{
	struct ptc_err err;

	*p = (struct ptc_progress){ .sink = sink };
	if (!isatty(STDERR_FILENO) || isatty(STDOUT_FILENO) ||
	    ptc_decode_get_times(d, &p->first_ns, &p->last_ns, &err) < 0)
		return false;
	p->next_ns = now_ns() + 1000000000;
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
	const uint64_t now = now_ns();

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
