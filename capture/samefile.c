/* SPDX-License-Identifier: MIT */
#include "capture/samefile.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Does stat name another device there than /proc/PID/maps? */
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

static int open_same(const char *path, const struct ptc_inode *inode, struct stat *st)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode) || !ptc_samefile(fd, st, inode))) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

int ptc_samefile_open(const char *name, pid_t pid, const struct ptc_inode *inode, struct stat *st)
{
	char path[PATH_MAX];
	int fd, n;

	if (name[0] != '/' || name[1] == '/')
		return -1;
	fd = open_same(name, inode, st);
	if (fd >= 0 || pid <= 0)
		return fd;
	n = snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, name);
	return n > 0 && (size_t)n < sizeof(path) ? open_same(path, inode, st) : -1;
}
