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

/* ".NAME.XXXXXX" beside @t->path; NULL: out of memory. */
static char *beside(const struct ptc_tmpfile *t)
{
	const char *base = strrchr(t->path, '/');
	char *name;

	base = base ? base + 1 : t->path;
	if (asprintf(&name, "%.*s.%s.XXXXXX", (int)(base - t->path), t->path, base) < 0)
		return NULL;
	return name;
}

/*
 * A file that has no name yet: nothing of it is left however we end. -1: not on
 * this file system, or there would be no way to name it later.
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

static int open_named(struct ptc_tmpfile *t)
{
	t->tmp = beside(t);
	if (!t->tmp)
		return ENOMEM;
	t->fd = mkostemp(t->tmp, O_CLOEXEC);
	if (t->fd < 0) {
		const int sys = errno;

		free(t->tmp);
		t->tmp = NULL;
		return sys;
	}
	return 0;
}

static int open_file(struct ptc_tmpfile *t, const char *path, bool named, struct ptc_err *err)
{
	const size_t len = strlen(path);
	struct stat st;
	int sys = 0, rc;

	*t = (struct ptc_tmpfile)PTC_TMPFILE_INIT;
	rc = ptc_replace_name(path, &t->path, err);
	if (rc)
		return rc;
	rc = path[len - 1] == '/' && stat(path, &st) ?
		     ptc_fail(err, PTC_E_USAGE, "cannot write '%s': it names a folder", path) :
		     ptc_replace_check(t->path, err);
	if (rc) {
		ptc_tmpfile_release(t);
		return rc;
	}
	t->fd = named ? -1 : open_nameless(t->path);
	if (t->fd < 0)
		sys = open_named(t);
	if (!sys)
		return 0;
	ptc_tmpfile_release(t);
	return ptc_fail_sys(err, sys, "cannot create a file for '%s'", path);
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

/* A name that nothing has, but for another's haste. */
static bool find_name(struct ptc_tmpfile *t)
{
	int fd;

	t->tmp = beside(t);
	fd = t->tmp ? mkostemp(t->tmp, O_CLOEXEC) : -1;
	if (fd >= 0 && !unlink(t->tmp)) {
		(void)close(fd);
		return true;
	}
	free(t->tmp);
	t->tmp = NULL;
	return false;
}

/* Give a nameless file a name that nothing has. */
static int name_it(const struct ptc_tmpfile *t, const char *name)
{
	char from[64];

	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", t->fd);
	return linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Give a nameless file the temporary name under which it waits for its own. */
static int give_name(struct ptc_tmpfile *t)
{
	int tries = 100;

	while (tries-- && find_name(t)) {
		if (!name_it(t, t->tmp))
			return 0;
		free(t->tmp);
		t->tmp = NULL;
	}
	return -1;
}

/* A network or quota file system may say only at a close that it cannot. */
static bool is_written(const struct ptc_tmpfile *t)
{
	const int fd = dup(t->fd);

	return fd < 0 || !close(fd) || errno == EINTR;
}

int ptc_tmpfile_commit(struct ptc_tmpfile *t, struct ptc_err *err)
{
	int fd = t->fd;
	int rc = 0;

	/* No other name, even for a moment, if its own is free: then none is left by a SIGKILL. */
	if (!t->tmp && is_written(t) && !name_it(t, t->path)) {
		ptc_tmpfile_release(t);
		return 0;
	}
	if (!t->tmp && give_name(t)) {
		rc = ptc_fail_sys(err, errno, "cannot name the finished file '%s'", t->path);
		ptc_tmpfile_release(t);
		return rc;
	}
	t->fd = -1;
	if (close(fd) && errno != EINTR)
		rc = ptc_fail_sys(err, errno, "cannot write '%s'", t->path);
	else if (ptc_replace(t->tmp, t->path))
		rc = ptc_fail_sys(err, errno, "cannot rename the finished file to '%s'", t->path);
	if (!rc) {
		free(t->tmp);
		t->tmp = NULL;
	}
	ptc_tmpfile_release(t);
	return rc;
}

void ptc_tmpfile_release(struct ptc_tmpfile *t)
{
	if (t->fd >= 0)
		(void)close(t->fd);
	if (t->tmp)
		(void)unlink(t->tmp);
	free(t->tmp);
	free(t->path);
	*t = (struct ptc_tmpfile)PTC_TMPFILE_INIT;
}
