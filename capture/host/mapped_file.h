/* SPDX-License-Identifier: MIT */
/* Opens the file of a mapping by name, and identifies it by inode. */
#ifndef PTC_CAPTURE_HOST_MAPPED_FILE_H
#define PTC_CAPTURE_HOST_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Identifies a file as /proc/PID/maps and MMAP2 do. @ino 0: the inode is unknown, and any file of
 * that name matches.
 */
struct ptc_inode {
	uint32_t maj, min;
	uint64_t ino;
};

/*
 * Returns true if the open file @fd, whose fstat is @st, has inode @inode. On overlayfs and btrfs
 * stat reports another device than the kernel, which uses the superblock's (fs/proc/task_mmu.c).
 * There only the inode number is compared.
 */
bool ptc_samefile(int fd, const struct stat *st, const struct ptc_inode *inode);

/*
 * Opens @name for reading, as process @pid sees it (0: as this process does). Returns a descriptor,
 * which the caller closes, and fills *@st. Returns -1 if there is no regular file or if its inode
 * is not @inode. FIFOs and devices are never opened (base/untrusted.h).
 */
int ptc_samefile_open(const char *name, pid_t pid, const struct ptc_inode *inode, struct stat *st);

#endif
