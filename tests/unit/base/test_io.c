/* SPDX-License-Identifier: MIT */
/* Description: complete reads and writes, and the error messages when they fail. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"

enum { BIG = 1 << 20 }; /* more than a pipe holds: write(2) returns short or blocks */

struct sink {
	int fd;
	size_t got;
	bool in_order;
};

static void *read_all(void *arg)
{
	struct sink *s = arg;
	uint8_t bytes[1000];
	ssize_t n, i;

	s->in_order = true;
	while ((n = read(s->fd, bytes, sizeof(bytes))) > 0)
		for (i = 0; i < n; i++, s->got++)
			s->in_order &= bytes[i] == (uint8_t)(s->got * 31 / 7);
	return NULL;
}

static uint8_t *pattern(void)
{
	uint8_t *p = malloc(BIG);
	size_t i;

	for (i = 0; i < BIG; i++)
		p[i] = (uint8_t)(i * 31 / 7);
	return p;
}

Test(io, all_pieces_arrive_through_a_pipe, .timeout = 600)
{
	uint8_t *p = pattern();
	struct iovec iov[5] = { { p, 1 },
				{ p + 1, 0 },
				{ p + 1, BIG / 3 },
				{ p + 1 + BIG / 3, BIG - 1 - BIG / 3 },
				{ p, 0 } };
	struct sink s = { 0 };
	struct ptc_err err;
	pthread_t t;
	int fds[2];

	cr_assert_eq(pipe(fds), 0);
	/* The pipe blocks. Small iovecs still make short writes frequent enough. */
	s.fd = fds[0];
	cr_assert_eq(pthread_create(&t, NULL, read_all, &s), 0);
	cr_assert_eq(ptc_writev_all(fds[1], iov, 5, "pipe", &err), 0);
	cr_assert_eq(close(fds[1]), 0);
	cr_assert_eq(pthread_join(t, NULL), 0);
	cr_assert_eq(s.got, BIG);
	cr_assert(s.in_order);
	cr_assert_eq(close(fds[0]), 0);
	free(p);
}

Test(io, as_many_pieces_as_the_system_takes)
{
	enum { N = 1024 };
	static struct iovec iov[N];
	uint8_t *p = pattern(), got[N + 1];
	struct ptc_err err;
	int fds[2], i;

	cr_assert_eq(pipe(fds), 0);
	for (i = 0; i < N; i++)
		iov[i] = (struct iovec){ p + i, 1 };
	cr_assert_eq(ptc_writev_all(fds[1], iov, N, "pipe", &err), 0);
	cr_assert_eq(read(fds[0], got, sizeof(got)), N);
	cr_assert(!memcmp(got, p, N));
	cr_assert_eq(close(fds[0]) | close(fds[1]), 0);
	free(p);
}

Test(io, write_all_and_pwrite_all_and_read_file_agree)
{
	char path[] = "/tmp/ptcap-io-XXXXXX";
	struct ptc_buf b = PTC_BUF_INIT;
	uint8_t *p = pattern();
	struct ptc_err err;
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ptc_write_all(fd, p, BIG, path, &err), 0);
	cr_assert_eq(ptc_pwrite_all(fd, "xyz", 3, 5000, path, &err), 0);
	cr_assert_eq(ptc_write_all(fd, "end", 3, path, &err), 0, "pwrite moves no position");
	memcpy(p + 5000, "xyz", 3);
	cr_assert_eq(ptc_read_file(path, BIG + 3, &b, &err), 0);
	cr_assert_eq(b.len, BIG + 3);
	cr_assert_arr_eq(b.bytes, p, BIG);
	cr_assert_str_eq((char *)b.bytes + BIG, "end", "a NUL follows");
	cr_assert_eq(ptc_read_file(path, BIG + 2, &b, &err), PTC_E_LIMIT);
	cr_assert_eq(close(fd), 0);
	cr_assert_eq(unlink(path), 0);
	ptc_buf_release(&b);
	free(p);
}

Test(io, an_empty_file_is_an_empty_string)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err err;

	cr_assert_eq(ptc_read_file("/dev/null", 10, &b, &err), 0);
	cr_assert_eq(b.len, 0);
	cr_assert_str_eq((char *)b.bytes, "");
	ptc_buf_release(&b);
}

Test(io, failures_name_the_file_and_the_cause)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct iovec iov = { (char[]){ "x" }, 1 };
	struct ptc_err err;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ptc_write_all(fd, "x", 1, "out", &err), PTC_E_IO);
	cr_assert_str_eq(err.msg, "cannot write 'out': No space left on device");
	cr_assert_eq(err.sys, ENOSPC);
	cr_assert_eq(ptc_writev_all(fd, &iov, 1, "out", &err), PTC_E_IO);
	cr_assert_eq(ptc_pwrite_all(-1, "x", 1, 0, "out", &err), PTC_E_IO);
	cr_assert_eq(ptc_read_file("/nonexistent/file", 10, &b, &err), PTC_E_NOT_EXIST);
	cr_assert(strstr(err.msg, "'/nonexistent/file'"));
	cr_assert_eq(ptc_read_file("/", 10, &b, &err), PTC_E_IO, "a folder");
	cr_assert_eq(close(fd), 0);
	ptc_buf_release(&b);
}
