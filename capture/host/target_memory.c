/* SPDX-License-Identifier: MIT */
#include "capture/host/target_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

bool ptc_memory_read(pid_t tid, uint64_t addr, void *to, size_t len)
{
	const struct iovec local = { .iov_base = to, .iov_len = len };
	const struct iovec remote = { .iov_base = (void *)addr, .iov_len = len };

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

/* Reads as process_vm_readv does. Returns the number of bytes. */
static size_t read_waiting(pid_t tid, uint64_t addr, void *to, size_t len)
{
	const struct iovec local = { .iov_base = to, .iov_len = len };
	const struct iovec remote = { .iov_base = (void *)addr, .iov_len = len };
	const ssize_t n = process_vm_readv(tid, &local, 1, &remote, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

/*
 * The kernel reads /proc/TID/mem without FAULT_FLAG_ALLOW_RETRY (__access_remote_vm in
 * mm/memory.c). userfaultfd then makes the read fail. process_vm_readv waits for the program, which
 * may be stopped.
 */
size_t ptc_memory_peek_by(int fd, pid_t tid, uint64_t addr, void *to, size_t len)
{
	ssize_t n;

	if (fd < 0) /* for example CAP_SYS_PTRACE without CAP_DAC_OVERRIDE */
		return read_waiting(tid, addr, to, len);
	n = pread(fd, to, len, (off_t)addr);
	return n < 0 ? 0 : (size_t)n;
}

int ptc_memory_open(pid_t tid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

size_t ptc_memory_peek(pid_t tid, uint64_t addr, void *to, size_t len)
{
	const int fd = ptc_memory_open(tid);
	const size_t n = ptc_memory_peek_by(fd, tid, addr, to, len);

	if (fd >= 0)
		(void)close(fd);
	return n;
}

bool ptc_memory_write(pid_t tid, uint64_t addr, const void *from, size_t len)
{
	const struct iovec local = { .iov_base = (void *)from, .iov_len = len };
	const struct iovec remote = { .iov_base = (void *)addr, .iov_len = len };

	return process_vm_writev(tid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}
