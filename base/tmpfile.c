/* SPDX-License-Identifier: MIT */
#include "base/tmpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/replace.h"
#include "base/temp_name.h"

/*
 * Open a nameless file, which disappears however this process ends. -1: the file system does not
 * support it, or the file could not be named later.
 */
static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	int fd;

	if (access("/proc/self/fd", X_OK))
		return -1;
	folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (!folder)
		return -1;
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	free(folder);
	return fd;
}

static int open_file(struct ptc_tmpfile *t, const char *path, bool named, struct ptc_err *err)
{
	const size_t len = strlen(path);
	struct stat st;
	int rc, sys;

	*t = (struct ptc_tmpfile)PTC_TMPFILE_INIT;
	rc = ptc_replace_name(path, &t->path, err);
	if (rc)
		return rc;
	rc = path[len - 1] == '/' && stat(path, &st) ?
		     ptc_fail(err, PTC_E_USAGE, "cannot write '%s': it is a folder", path) :
		     ptc_replace_check(t->path, err);
	if (rc) {
		ptc_tmpfile_release(t);
		return rc;
	}
	ptc_hidden_sweep(t->path);
	t->fd = named ? -1 : open_nameless(t->path);
	if (t->fd < 0)
		t->fd = ptc_hidden_file(t->path, &t->tmp);
	if (t->fd >= 0)
		return 0;
	sys = errno;
	ptc_tmpfile_release(t);
	return ptc_fail_sys(err, sys, "cannot create a temporary file for '%s'", path);
}

int ptc_tmpfile_open(struct ptc_tmpfile *t, const char *path, struct ptc_err *err)
{
	return open_file(t, path, false, err);
}

int ptc_tmpfile_open_named(struct ptc_tmpfile *t, const char *path, struct ptc_err *err)
{
	return open_file(t, path, true, err);
}

int ptc_tmpfile_nameless(const struct ptc_tmpfile *t)
{
	return open_nameless(t->path);
}

/*
 * Return whether all data were written. Network and quota file systems may report errors only at
 * close.
 */
static bool is_written(const struct ptc_tmpfile *t)
{
	const int fd = dup(t->fd);

	return fd < 0 || !close(fd) || errno == EINTR;
}

int ptc_tmpfile_commit(struct ptc_tmpfile *t, struct ptc_err *err)
{
	int rc = 0;

	if (!is_written(t))
		rc = ptc_fail_sys(err, errno, "cannot write '%s'", t->path);
	else if (t->tmp ? ptc_replace(t->tmp, t->path) : ptc_replace_nameless(t->fd, t->path))
		rc = ptc_fail_sys(err, errno, "cannot rename the temporary file to '%s'", t->path);
	if (!rc) {
		free(t->tmp);
		t->tmp = NULL;
	}
	ptc_tmpfile_release(t); /* also releases the lock on the temporary name */
	return rc;
}

void ptc_tmpfile_release(struct ptc_tmpfile *t)
{
	if (t->tmp)
		(void)unlink(t->tmp);
	if (t->fd >= 0)
		(void)close(t->fd);
	free(t->tmp);
	free(t->path);
	*t = (struct ptc_tmpfile)PTC_TMPFILE_INIT;
}
