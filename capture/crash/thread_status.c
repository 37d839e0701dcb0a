/* SPDX-License-Identifier: MIT */
#include "capture/crash/thread_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"

enum {
	TEXT_MAX = 64 << 10,
	CALL_WORDS = 9,	       /* number, six arguments, sp, ip */
	NR_EPOLL_PWAIT2 = 441, /* missing in older headers */
};

/* Reads /proc/TID/@name. Returns false if the thread is gone. */
static bool read_text(pid_t tid, const char *name, struct ptc_buf *b)
{
	struct ptc_err ignored;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	return !ptc_read_file(path, TEXT_MAX, b, &ignored);
}

/* Returns the last number in the line that begins with @key: the ID in the innermost namespace. */
static uint64_t last_number(const char *text, const char *key)
{
	const char *p = strstr(text, key);
	uint64_t n = 0;
	char *end;

	for (p = p ? p + strlen(key) : NULL; p && *p == '\t'; p = end)
		n = strtoull(p + 1, &end, 10);
	return n;
}

void ptc_thread_status_read(struct ptc_thread_status *ret, pid_t tid)
{
	struct ptc_buf b = PTC_BUF_INIT;

	if (read_text(tid, "status", &b))
		ret->own_tid = last_number((const char *)b.bytes, "\nNSpid:");
	if (read_text(tid, "schedstat", &b)) /* time on the CPU, time in the queue, slices */
		ret->cpu_ns = strtoull((const char *)b.bytes, NULL, 10);
	ptc_buf_release(&b);
}

/* Calls that can wait, and whose first argument is a descriptor. */
static bool takes_file(uint64_t nr)
{
	switch (nr) {
	case SYS_read:
	case SYS_write:
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_readv:
	case SYS_writev:
	case SYS_preadv:
	case SYS_pwritev:
	case SYS_ioctl:
	case SYS_flock:
	case SYS_fcntl:
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_ftruncate:
	case SYS_getdents64:
	case SYS_connect:
	case SYS_accept:
	case SYS_accept4:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_splice:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case NR_EPOLL_PWAIT2:
	case SYS_mq_timedsend:
	case SYS_mq_timedreceive:
	case SYS_io_uring_enter:
		return true;
	default:
		return false;
	}
}

bool ptc_thread_status_file(struct ptc_thread_status *ret, pid_t tid,
			    const struct user_regs_struct *regs)
{
	char path[64];
	ssize_t n;

	if (!takes_file(regs->orig_rax) || (uint32_t)regs->rdi > INT32_MAX)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%" PRIu32, (int)tid, (uint32_t)regs->rdi);
	n = readlink(path, ret->file, sizeof(ret->file) - 1);
	ret->file[n < 0 ? 0 : n] = '\0';
	return n > 0;
}

bool ptc_thread_status_parse(const char *text, struct ptc_thread_call *ret)
{
	uint64_t words[CALL_WORDS];
	const char *p = text;
	char *end;
	size_t i;

	for (i = 0; i < CALL_WORDS; i++, p = end) {
		words[i] = strtoull(p, &end, 0); /* the number is decimal, the others have 0x */
		if (end == p)			 /* "running", or "-1 SP IP" outside of a call */
			return false;
	}
	ret->nr = words[0];
	memcpy(ret->args, words + 1, sizeof(ret->args));
	ret->sp = words[CALL_WORDS - 2];
	ret->ip = words[CALL_WORDS - 1];
	return true;
}

bool ptc_thread_status_call(pid_t tid, struct ptc_thread_call *ret)
{
	struct ptc_buf b = PTC_BUF_INIT;
	const bool known = read_text(tid, "syscall", &b) &&
			   ptc_thread_status_parse((const char *)b.bytes, ret);

	ptc_buf_release(&b);
	return known;
}
