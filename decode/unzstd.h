/* SPDX-License-Identifier: MIT */
/*
 * A file as libdw may read it: there is memory for its sections, and none is compressed with zstd,
 * which elfutils up to 0.188 does not read.
 */
#ifndef PTC_DECODE_UNZSTD_H
#define PTC_DECODE_UNZSTD_H

struct ptc_leftout;

/*
 * Takes @fd. Returns it, or a descriptor of a copy in memory, in which the sections that were
 * compressed with zstd are not, if such a copy can be made. -1, and @fd is closed, if it is no ELF
 * file, or if the memory budget has no room for what it holds: then @left (may be NULL) gets a line
 * about @file. A copy is held in the budget until @left is released. -1 stays -1.
 */
int ptc_unzstd_fd(int fd, const char *file, struct ptc_leftout *left);

#endif
