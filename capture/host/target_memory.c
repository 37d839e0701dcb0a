/* SPDX-License-Identifier: MIT */
#include "capture/host/target_memory.h"

#include <sys/uio.h>

bool ptc_memory_read(pid_t tid, uint64_t addr, void *to, size_t len)
{
	const struct iovec local = { .iov_base = to, .iov_len = len };
	const struct iovec remote = { .iov_base = (void *)addr, .iov_len = len };

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

bool ptc_memory_write(pid_t tid, uint64_t addr, const void *from, size_t len)
{
	const struct iovec local = { .iov_base = (void *)from, .iov_len = len };
	const struct iovec remote = { .iov_base = (void *)addr, .iov_len = len };

	return process_vm_writev(tid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}
