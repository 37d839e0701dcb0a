/* SPDX-License-Identifier: MIT */
#include "cli/timeline/folder_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"

FILE *ptc_folder_file_new(const char *folder, const char *name)
{
	FILE *f = NULL;
	char *path;
	int fd, sys;

	if (asprintf(&path, "%s/%s", folder, name) < 0) {
		errno = ENOMEM;
		return NULL;
	}
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	free(path);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (!f && fd >= 0) {
		sys = errno;
		(void)close(fd);
		errno = sys;
	}
	return f;
}

FILE *ptc_folder_file_create(const char *folder, const char *name, struct ptc_err *err)
{
	FILE *f = ptc_folder_file_new(folder, name);

	if (!f)
		(void)ptc_fail_sys(err, errno, "cannot create '%s/%s'", folder, name);
	return f;
}

int ptc_folder_file_close(FILE *f, const char *folder, const char *name, struct ptc_err *err)
{
	const bool failed = ferror(f);
	const int sys = errno;

	if (!fclose(f) && !failed)
		return 0;
	return ptc_fail_sys(err, failed ? sys : errno, "cannot write '%s/%s'", folder, name);
}
