/* SPDX-License-Identifier: MIT */
#include "base/io.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/err.h"

int ptc_write_all(int fd, const void *bytes, size_t len, const char *name, struct ptc_err *err)
{
	const uint8_t *p = bytes;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ptc_fail_sys(err, errno, "cannot write '%s'", name);
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int ptc_writev_all(int fd, struct iovec *iov, int n, const char *name, struct ptc_err *err)
{
	assert(n >= 0 && n <= IOV_MAX);
	while (n) {
		ssize_t w;

		if (!iov->iov_len) {
			iov++;
			n--;
			continue;
		}
		w = writev(fd, iov, n);
		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return ptc_fail_sys(err, errno, "cannot write '%s'", name);
		while (n && (size_t)w >= iov->iov_len) {
			w -= (ssize_t)iov->iov_len;
			iov++;
			n--;
		}
		if (n) {
			iov->iov_base = (uint8_t *)iov->iov_base + w;
			iov->iov_len -= (size_t)w;
		}
	}
	return 0;
}

int ptc_pwrite_all(int fd, const void *bytes, size_t len, uint64_t off, const char *name,
		   struct ptc_err *err)
{
	const uint8_t *p = bytes;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ptc_fail_sys(err, errno, "cannot write '%s'", name);
		p += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int ptc_read_fd(int fd, const char *path, size_t max, struct ptc_buf *out, struct ptc_err *err)
{
	ptc_buf_reset(out);
	for (;;) {
		size_t len = out->len;
		uint8_t *p = ptc_buf_grow(out, 4096);
		ssize_t n;

		if (!p)
			return ptc_fail_mem(err);
		out->len = len;
		n = read(fd, p, 4096);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ptc_fail_sys(err, errno, "cannot read '%s'", path);
		out->len += (size_t)n;
		if (out->len > max)
			return ptc_fail(err, PTC_E_LIMIT, "'%s' is larger than %zu bytes", path,
					max);
		if (!n)
			break;
	}
	ptc_buf_u8(out, 0);
	if (ptc_buf_failed(out))
		return ptc_fail_mem(err);
	out->len--;
	return 0;
}

int ptc_read_file(const char *path, size_t max, struct ptc_buf *out, struct ptc_err *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	int rc;

	ptc_buf_reset(out);
	if (fd < 0)
		return ptc_fail_sys(err, errno, "cannot open '%s'", path);
	rc = ptc_read_fd(fd, path, max, out, err);
	(void)close(fd);
	return rc;
}
