/* SPDX-License-Identifier: MIT */
#include "capture/host/mapped_file.h"

#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/untrusted.h"

/* Returns true on file systems where stat and /proc/PID/maps report different devices. */
static bool device_differs(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) &&
	       (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC);
}

bool ptc_samefile(int fd, const struct stat *st, const struct ptc_inode *inode)
{
	if (!inode->ino)
		return true;
	return st->st_ino == inode->ino &&
	       ((major(st->st_dev) == inode->maj && minor(st->st_dev) == inode->min) ||
		device_differs(fd));
}

static int open_same(const char *path, size_t root, const struct ptc_inode *inode, struct stat *st)
{
	const struct ptc_untrusted how = { .root = root };
	struct ptc_err ignored;
	const int fd = ptc_untrusted_open(path, &how, st, &ignored);

	if (fd >= 0 && !ptc_samefile(fd, st, inode)) {
		(void)close(fd);
		return -1;
	}
	return fd < 0 ? -1 : fd;
}

int ptc_samefile_open(const char *name, pid_t pid, const struct ptc_inode *inode, struct stat *st)
{
	char path[PATH_MAX];
	int fd, n;

	if (name[0] != '/' || name[1] == '/')
		return -1;
	fd = open_same(name, 0, inode, st);
	if (fd >= 0 || pid <= 0)
		return fd;
	n = snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	if (n < 0 || (size_t)n + strlen(name) >= sizeof(path))
		return -1;
	memcpy(path + n, name, strlen(name) + 1);
	return open_same(path, (size_t)n, inode, st);
}
