/* SPDX-License-Identifier: MIT */
/* Complete reads and writes, which retry after EINTR and short counts. */
#ifndef PTC_BASE_IO_H
#define PTC_BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "ptcap/error.h"

/* Write all @len bytes. @name is for the message. */
int ptc_write_all(int fd, const void *bytes, size_t len, const char *name, struct ptc_err *err);

/* As ptc_write_all, for up to IOV_MAX (1024) segments. @iov is modified. */
int ptc_writev_all(int fd, struct iovec *iov, int n, const char *name, struct ptc_err *err);

int ptc_pwrite_all(int fd, const void *bytes, size_t len, uint64_t off, const char *name,
		   struct ptc_err *err);

/*
 * Read @fd to its end, at most @max bytes, into @out. @out is reset first, and a NUL follows its
 * len bytes. PTC_E_LIMIT: more than @max bytes. @path is for messages.
 */
int ptc_read_fd(int fd, const char *path, size_t max, struct ptc_buf *out, struct ptc_err *err);

/*
 * As ptc_read_fd, for a small kernel file in /proc or /sys, whose size is not known in advance. All
 * other files are opened with base/untrusted.h.
 */
int ptc_read_file(const char *path, size_t max, struct ptc_buf *out, struct ptc_err *err);

#endif
