/* SPDX-License-Identifier: MIT */
#include "base/tmpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

int ptc_tmpfile_open(struct ptc_tmpfile *t, const char *path, struct ptc_err *err)
{
	const char *base;
	struct stat st;
	mode_t mask;

	*t = (struct ptc_tmpfile)PTC_TMPFILE_INIT;
	if (!*path)
		return ptc_fail(err, PTC_E_USAGE, "the output file has no name");
	if (!stat(path, &st)) {
		if (!S_ISREG(st.st_mode))
			return ptc_fail(err, PTC_E_USAGE,
					"cannot write '%s': it exists and is not a regular file",
					path);
		t->path = realpath(path, NULL);
	} else {
		t->path = strdup(path);
	}
	if (!t->path)
		return ptc_fail_sys(err, errno, "cannot write '%s'", path);
	base = strrchr(t->path, '/');
	base = base ? base + 1 : t->path;
	if (!*base) {
		ptc_tmpfile_release(t);
		return ptc_fail(err, PTC_E_USAGE, "cannot write '%s': it names a folder", path);
	}
	if (asprintf(&t->tmp, "%.*s.%s.XXXXXX", (int)(base - t->path), t->path, base) < 0) {
		t->tmp = NULL;
		ptc_tmpfile_release(t);
		return ptc_fail_mem(err);
	}
	t->fd = mkostemp(t->tmp, O_CLOEXEC);
	if (t->fd < 0) {
		int sys = errno;

		free(t->tmp);
		t->tmp = NULL;
		ptc_tmpfile_release(t);
		return ptc_fail_sys(err, sys, "cannot create a file for '%s'", path);
	}
	mask = umask(0);
	(void)umask(mask);
	(void)fchmod(t->fd, 0666 & ~mask);
	return 0;
}

/* PATH -> PATH.old without a moment at which PATH does not exist. */
static int keep_old(struct ptc_tmpfile *t)
{
	char *old;
	int rc;

	if (asprintf(&old, "%s.old", t->path) < 0) {
		errno = ENOMEM;
		return -1;
	}
	rc = renameat2(AT_FDCWD, t->tmp, AT_FDCWD, t->path, RENAME_EXCHANGE);
	if (!rc) {
		rc = rename(t->tmp, old);
		if (rc) { /* say, old is a folder: the former file gets its name back */
			int sys = errno;

			(void)renameat2(AT_FDCWD, t->tmp, AT_FDCWD, t->path, RENAME_EXCHANGE);
			errno = sys;
		}
	} else if (errno == EINVAL || errno == ENOSYS) { /* a file system that cannot exchange */
		(void)rename(t->path, old);
		rc = rename(t->tmp, t->path);
	} else if (errno == ENOENT) { /* nothing to keep */
		rc = rename(t->tmp, t->path);
	}
	free(old);
	return rc;
}

int ptc_tmpfile_commit(struct ptc_tmpfile *t, struct ptc_err *err)
{
	int fd = t->fd;
	int rc = 0;

	t->fd = -1;
	if (close(fd) && errno != EINTR) /* a network or quota file system may say so only now */
		rc = ptc_fail_sys(err, errno, "cannot write '%s'", t->path);
	else if (keep_old(t))
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
