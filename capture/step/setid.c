/* SPDX-License-Identifier: MIT */
#include "capture/step/setid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/io.h"

enum { STATUS_MAX = 65536 };

/* Returns the @n-th number after @key in /proc/PID/status; 0: no such key. */
static unsigned long long read_status_number(const struct ptc_buf *status, const char *key, int n,
					     int base)
{
	char *p = strstr((char *)status->bytes, key);
	unsigned long long v = 0;

	if (!p)
		return 0;
	for (p += strlen(key); n--;)
		v = strtoull(p, &p, base);
	return v;
}

static bool lacks(const char *exe, const struct stat *st, const struct ptc_buf *status)
{
	const uid_t uid = (uid_t)read_status_number(status, "\nUid:", 2, 10);
	const gid_t gid = (gid_t)read_status_number(status, "\nGid:", 2, 10);

	if (read_status_number(status, "\nNoNewPrivs:", 1, 10))
		return false;
	return (st->st_mode & S_ISUID && st->st_uid != uid) ||
	       (st->st_mode & S_ISGID && st->st_mode & S_IXGRP && st->st_gid != gid) ||
	       (uid && !read_status_number(status, "\nCapPrm:", 1, 16) &&
		getxattr(exe, "security.capability", NULL, 0) > 0);
}

bool ptc_setid_lacks(pid_t pid, char *path, size_t size)
{
	struct ptc_buf status = PTC_BUF_INIT;
	struct ptc_err ignored;
	struct statvfs fs;
	struct stat st;
	char name[64], exe[64];
	ssize_t n = -1;

	(void)snprintf(name, sizeof(name), "/proc/%d/status", (int)pid);
	(void)snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)pid);
	if (!stat(exe, &st) && !statvfs(exe, &fs) && !(fs.f_flag & ST_NOSUID) &&
	    !ptc_read_file(name, STATUS_MAX, &status, &ignored) && lacks(exe, &st, &status))
		n = readlink(exe, path, size - 1);
	ptc_buf_release(&status);
	if (n >= 0)
		path[n] = '\0';
	return n >= 0;
}
