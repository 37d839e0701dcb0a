/* SPDX-License-Identifier: MIT */
/*
 * Prepares a file for libdw: checks that there is memory for its sections, and decompresses
 * sections compressed with zstd, which elfutils up to 0.188 cannot read.
 */
#ifndef PTC_DECODE_ELF_ZSTD_SECTIONS_H
#define PTC_DECODE_ELF_ZSTD_SECTIONS_H

struct ptc_omitted_data;

/*
 * Takes ownership of @fd. Returns @fd, or the descriptor of a copy in memory with all zstd sections
 * decompressed, if such a copy is needed and can be made. Closes @fd and returns -1 if it is no ELF
 * file, or if the memory budget does not allow its contents. In the latter case @left (may be NULL)
 * gets a line about @file. A copy is held in the budget until @left is released. If @fd is -1,
 * returns -1.
 */
int ptc_unzstd_fd(int fd, const char *file, struct ptc_omitted_data *left);

#endif
