/* SPDX-License-Identifier: MIT */
#include "capture/perf/explain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/io.h"

static long sysctl_number(const char *path, long missing)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct ptc_err ignored;
	long v = missing;

	if (!ptc_read_file(path, 4096, &b, &ignored))
		v = strtol((const char *)b.bytes, NULL, 10);
	ptc_buf_release(&b);
	return v;
}

int ptc_explain_open(struct ptc_err *err, int sys, const char *what)
{
	int code = ptc_fail_sys(err, sys, "cannot open %s", what);
	const size_t n = strlen(err->msg);
	char *end = err->msg + n;
	const size_t room = sizeof(err->msg) - n;

	switch (sys) {
	case EACCES:
	case EPERM:
		(void)snprintf(
			end, room,
			" (kernel.perf_event_paranoid is %ld: up to 2 allows tracing one's own "
			"programs, or use CAP_PERFMON)",
			sysctl_number("/proc/sys/kernel/perf_event_paranoid", 2));
		break;
	case EBUSY:
		(void)snprintf(
			end, room,
			" (Intel PT is in use: per-thread and per-CPU tracing exclude each other "
			"machine-wide, and some CPUs cannot trace while LBR is used)");
		break;
	case EINVAL:
		(void)snprintf(end, room,
			       " (the kernel or the CPU does not support this configuration)");
		break;
	case EMFILE:
		(void)snprintf(end, room, " (raise `ulimit -n`)");
		break;
	default:
		break;
	}
	return code;
}

int ptc_explain_mmap(struct ptc_err *err, int sys, const char *what, uint64_t bytes)
{
	int code = ptc_fail_sys(err, sys, "cannot map %s of %" PRIu64 " bytes", what, bytes);
	const size_t n = strlen(err->msg);

	if (sys == EPERM)
		(void)snprintf(
			err->msg + n, sizeof(err->msg) - n,
			" (more than kernel.perf_event_mlock_kb, %ld KiB a CPU, and RLIMIT_MEMLOCK "
			"allow: smaller rings with -m, `ulimit -l`, or CAP_IPC_LOCK)",
			sysctl_number("/proc/sys/kernel/perf_event_mlock_kb", 516));
	return code;
}
