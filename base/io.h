/* SPDX-License-Identifier: MIT */
/* Whole reads and writes, retried over EINTR and short counts. */
#ifndef PTC_BASE_IO_H
#define PTC_BASE_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "ptcap/error.h"

/* Write all of @len bytes. @name is for the message. */
int ptc_write_all(int fd, const void *bytes, size_t len, const char *name, struct ptc_err *err);

/* The same for up to IOV_MAX (1024) pieces; @iov is consumed (changed). */
int ptc_writev_all(int fd, struct iovec *iov, int n, const char *name, struct ptc_err *err);

int ptc_pwrite_all(int fd, const void *bytes, size_t len, uint64_t off, const char *name,
		   struct ptc_err *err);

/*
 * Read @fd to its end, at most @max bytes, into @out, which is reset first and gets a NUL behind
 * its len. More than @max is PTC_E_LIMIT. @path is for messages.
 */
int ptc_read_fd(int fd, const char *path, size_t max, struct ptc_buf *out, struct ptc_err *err);

/*
 * The same for a small file of the kernel, in /proc or /sys, where sizes are not known beforehand.
 * Any other name is opened by base/untrusted.h.
 */
int ptc_read_file(const char *path, size_t max, struct ptc_buf *out, struct ptc_err *err);

#endif
