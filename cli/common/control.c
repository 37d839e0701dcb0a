/* SPDX-License-Identifier: MIT */
#include "cli/common/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/cli.h"

static int refuse_control_argument(struct ptc_err *err, const char *text, const char *why)
{
	err->code = PTC_E_USAGE;
	(void)snprintf(err->msg, sizeof(err->msg), "--control '%.80s': %s", text, why);
	return err->code;
}

/*
 * Open the FIFO with the @len bytes at @name. Opened for both directions, so that it does not reach
 * end of file when writers close it.
 */
static int open_fifo(const char *name, size_t len, int *ret, struct ptc_err *err)
{
	char path[4096];
	struct stat st;

	if (!len || len >= sizeof(path))
		return refuse_control_argument(err, name, "a name is empty or too long");
	memcpy(path, name, len);
	path[len] = '\0';
	if (stat(path, &st))
		return refuse_control_argument(err, path, strerror(errno));
	if (!S_ISFIFO(st.st_mode))
		return refuse_control_argument(err, path, "not a FIFO; create one with mkfifo");
	*ret = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return *ret < 0 ? refuse_control_argument(err, path, strerror(errno)) : 0;
}

static int take_fd(const char *name, size_t len, int *ret, struct ptc_err *err)
{
	char text[16];
	uint64_t v;
	int flags;

	if (!len || len >= sizeof(text))
		return refuse_control_argument(err, name, "not a file descriptor");
	memcpy(text, name, len);
	text[len] = '\0';
	if (!ptc_parse_u64(text, &v) || v > INT32_MAX)
		return refuse_control_argument(err, text, "not a file descriptor");
	flags = fcntl((int)v, F_GETFL);
	if (flags < 0)
		return refuse_control_argument(err, text, strerror(errno));
	(void)fcntl((int)v, F_SETFL, flags | O_NONBLOCK);
	(void)fcntl((int)v, F_SETFD, FD_CLOEXEC);
	*ret = (int)v;
	return 0;
}

int ptc_control_open(struct ptc_control *c, const char *text, struct ptc_err *err)
{
	const bool fd = !strncmp(text, "fd:", 3);
	const char *ctl = fd ? text + 3 : !strncmp(text, "fifo:", 5) ? text + 5 : text;
	const char *comma = strchr(ctl, ',');
	const size_t len = comma ? (size_t)(comma - ctl) : strlen(ctl);
	int rc;

	c->ours = !fd;
	rc = fd ? take_fd(ctl, len, &c->fd, err) : open_fifo(ctl, len, &c->fd, err);
	if (rc || !comma)
		return rc;
	comma++;
	return fd ? take_fd(comma, strlen(comma), &c->ack_fd, err) :
		    open_fifo(comma, strlen(comma), &c->ack_fd, err);
}

/* Send an answer without waiting. A client that does not read loses it. */
static void answer(const struct ptc_control *c, const char *text)
{
	if (c->ack_fd >= 0)
		(void)!write(c->ack_fd, text, strlen(text));
}

static void answer_if(const struct ptc_control *c, bool good)
{
	answer(c, good ? "ack\n" : "error\n");
}

void ptc_control_close(struct ptc_control *c, bool ended)
{
	while (c->nwaiting) {
		c->nwaiting--;
		answer_if(c, false);
	}
	if (c->stop)
		answer_if(c, ended);
	if (c->ours && c->fd >= 0)
		(void)close(c->fd);
	if (c->ours && c->ack_fd >= 0)
		(void)close(c->ack_fd);
	*c = (struct ptc_control)PTC_CONTROL_INIT;
}

static enum ptc_control_command take_line(struct ptc_control *c)
{
	const char *line = c->line;

	c->line[c->len] = '\0';
	c->len = 0;
	if (!strcmp(line, "snapshot")) {
		if (c->nwaiting < PTC_CONTROL_WAITING)
			return PTC_CONTROL_SNAPSHOT;
		ptc_say("--control: too many pending snapshots");
		answer_if(c, false);
	} else if (!strcmp(line, "stop")) {
		c->stop = true;
		return PTC_CONTROL_STOP;
	} else if (!strcmp(line, "ping")) {
		answer_if(c, true);
	} else {
		ptc_say("--control: unknown command '%s': expected snapshot, stop or ping", line);
		answer_if(c, false);
	}
	return PTC_CONTROL_NOTHING;
}

/* Read byte by byte, so that bytes after the line remain visible to poll. */
enum ptc_control_command ptc_control_next(struct ptc_control *c)
{
	char byte;
	ssize_t n;

	while ((n = read(c->fd, &byte, 1)) == 1) {
		if (byte == '\n')
			return take_line(c);
		if (c->len < sizeof(c->line) - 1)
			c->line[c->len++] = byte;
	}
	return n ? PTC_CONTROL_NOTHING : PTC_CONTROL_CLOSED;
}

void ptc_control_wait(struct ptc_control *c, uint64_t n)
{
	c->waiting[c->nwaiting++] = n;
}

void ptc_control_taken(struct ptc_control *c, uint64_t n)
{
	size_t i, left = 0;

	for (i = 0; i < c->nwaiting; i++) {
		if (c->waiting[i] <= n)
			answer_if(c, true);
		else
			c->waiting[left++] = c->waiting[i];
	}
	c->nwaiting = left;
}
