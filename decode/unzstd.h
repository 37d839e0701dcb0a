/* SPDX-License-Identifier: MIT */
/* Debug sections that are compressed with zstd, which elfutils up to 0.188 does not read. */
#ifndef PTC_DECODE_UNZSTD_H
#define PTC_DECODE_UNZSTD_H

/*
 * A descriptor of the ELF file @fd, which is closed, with such sections decompressed: of a copy in
 * memory. @fd itself if there is none, or if a copy cannot be made. -1 stays -1.
 */
int ptc_unzstd_fd(int fd);

#endif
