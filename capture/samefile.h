/* SPDX-License-Identifier: MIT */
/* The file behind a mapping, opened by name and recognised by its inode. */
#ifndef PTC_CAPTURE_SAMEFILE_H
#define PTC_CAPTURE_SAMEFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* As /proc/PID/maps and MMAP2 name a file. @ino 0: the inode is not known, and any file of that
 * name is taken. */
struct ptc_inode {
	uint32_t maj, min;
	uint64_t ino;
};

/* Is the open file @fd, whose fstat is @st, the one with inode @inode? Where stat names another
 * device than the kernel does (overlayfs, btrfs: fs/proc/task_mmu.c takes the superblock's), the
 * inode number decides. */
bool ptc_samefile(int fd, const struct stat *st, const struct ptc_inode *inode);

/*
 * Opens @name, as process @pid sees it (0: as we do), for reading. Returns a descriptor, which the
 * caller closes, and fills *@st; or -1 if there is no regular file, or another one than @inode. A
 * FIFO or a device is not opened (base/untrusted.h).
 */
int ptc_samefile_open(const char *name, pid_t pid, const struct ptc_inode *inode, struct stat *st);

#endif
