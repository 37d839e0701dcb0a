/* SPDX-License-Identifier: MIT */
#include "base/find_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

int ptc_program_error(const char *file, int sys, struct ptc_err *err)
{
	(void)ptc_fail_sys(err, sys, "cannot run '%s'", file);
	err->code = sys == ENOENT || sys == ENOTDIR ? PTC_E_NO_COMMAND : PTC_E_BAD_COMMAND;
	return err->code;
}

static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return access(path, X_OK) ? errno : 0;
}

int ptc_find_program(const char *file, char **ret, struct ptc_err *err)
{
	const char *path = getenv("PATH");
	const char *p;
	int sys = ENOENT;

	if (strchr(file, '/') || !*file) {
		sys = *file ? executable(file) : ENOENT;
		if (sys)
			return ptc_program_error(file, sys, err);
		*ret = strdup(file);
		return *ret ? 0 : ptc_fail_mem(err);
	}
	if (!path)
		path = "/bin:/usr/bin"; /* confstr(_CS_PATH) */
	for (p = path;; p++) {
		const size_t n = strcspn(p, ":");
		char *full;
		int bad;

		if (asprintf(&full, "%.*s%s%s", (int)n, p, n ? "/" : "", file) < 0)
			return ptc_fail_mem(err);
		bad = executable(full);
		if (!bad) {
			*ret = full;
			return 0;
		}
		free(full);
		if (bad != ENOENT && bad != ENOTDIR) /* report that a file exists but cannot run */
			sys = bad;
		p += n;
		if (!*p)
			break;
	}
	return ptc_program_error(file, sys, err);
}
