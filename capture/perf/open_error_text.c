/* SPDX-License-Identifier: MIT */
#include "capture/perf/open_error_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/io.h"
#include "capture/perf/event_owners.h"

enum { CONTROL_KIB = 4, HOLDERS_MAX = 64 };

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

void ptc_limits_read(struct ptc_limits *l)
{
	struct rlimit memlock = { 0, 0 }, files = { 0, 0 };

	(void)getrlimit(RLIMIT_MEMLOCK, &memlock);
	(void)getrlimit(RLIMIT_NOFILE, &files);
	*l = (struct ptc_limits){
		.paranoid = sysctl_number("/proc/sys/kernel/perf_event_paranoid", 2),
		.mlock_kb = sysctl_number("/proc/sys/kernel/perf_event_mlock_kb", 516),
		.cpus = sysconf(_SC_NPROCESSORS_ONLN),
		.memlock = memlock.rlim_cur,
		.files = files.rlim_max,
	};
}

static void no_permission(const struct ptc_limits *l, char *out, size_t size)
{
	if (l->paranoid > 2)
		(void)snprintf(out, size,
			       "kernel.perf_event_paranoid is %ld, which forbids perf events for "
			       "users; set it to 2 to trace your own programs, or use "
			       "CAP_SYS_ADMIN (CAP_PERFMON on some kernels)",
			       l->paranoid);
	else
		(void)snprintf(out, size,
			       "kernel.perf_event_paranoid is %ld: 2 allows your own programs in "
			       "user mode (:u), 1 their kernel part, 0 whole CPUs; CAP_PERFMON "
			       "allows all, with CAP_SYS_PTRACE for other users' programs",
			       l->paranoid);
}

void ptc_explain_open_text(const struct ptc_limits *l, int sys, size_t fds, char *out, size_t size)
{
	static const struct {
		int sys;
		const char *text;
	} fixed[] = {
		{ EPERM, "forbidden by a seccomp filter (in a container: allow perf_event_open), a "
			 "security module or kernel lockdown" },
		{ EBUSY, "the PMU is in use: a machine traces either threads or CPUs with Intel PT "
			 "(another ptcap, perf, a KVM guest?); some CPUs cannot use LBR or BTS at "
			 "the same time" },
		{ EINVAL,
		  "not supported by the kernel or the CPU: see config, exclude_*, precise_ip, "
		  "pinned and exclusive of the event (-v lists what ptcap left out)" },
		{ ENODEV, "the CPU is offline, or its PMU does not have this event" },
		{ ENOENT, "the PMU does not exist any more (module unloaded?), or the cgroup "
			  "hierarchy has no perf_event" },
		{ EOPNOTSUPP, "the PMU has no interrupt or lacks a feature of the event (a virtual "
			      "machine without a full PMU?)" },
		{ E2BIG, "this kernel does not know some fields of perf_event_attr, or a thread "
			 "has too many events" },
		{ ESRCH, "the thread or process has ended" },
		{ ENOSYS, "the kernel has no perf events, or a seccomp filter hides them" },
		{ ENFILE, "the machine has too many open files; raise fs.file-max" },
		{ ENOMEM, "the kernel has no memory for another event" },
		{ ENOSPC, "the hardware has no free counter for another event" },
		{ EINTR, "interrupted by a signal; try again" },
	};
	size_t i;

	*out = '\0';
	if (sys == EACCES) {
		no_permission(l, out, size);
	} else if (sys == EMFILE) {
		(void)snprintf(out, size,
			       "%zu more file descriptors are needed, but the limit is %" PRIu64
			       "; raise `ulimit -n`, or use fewer CPUs (-C), fewer threads (-t) or "
			       "--per-thread",
			       fds, l->files);
	}
	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (fixed[i].sys == sys)
			(void)snprintf(out, size, "%s", fixed[i].text);
}

/*
 * Returns the KiB that each of @rings may use for data and AUX together, a power of two. The kernel
 * also counts the control page before the data.
 */
static uint64_t largest_kib(const struct ptc_limits *l, size_t rings)
{
	const uint64_t allowed = (uint64_t)l->mlock_kb * (uint64_t)l->cpus + l->memlock / 1024;
	uint64_t kib = 1;

	while ((kib * 2 + CONTROL_KIB) * rings <= allowed)
		kib *= 2;
	return kib;
}

void ptc_explain_mmap_text(const struct ptc_limits *l, int sys, uint64_t bytes, size_t rings,
			   char *out, size_t size)
{
	*out = '\0';
	if (sys == EPERM)
		(void)snprintf(
			out, size,
			"kernel.perf_event_mlock_kb allows %ld KiB for each of %ld CPUs, "
			"RLIMIT_MEMLOCK %" PRIu64 " KiB more, for %zu rings; use at most %" PRIu64
			"K of data and AUX in each (-m), `ulimit -l` or CAP_IPC_LOCK",
			l->mlock_kb, l->cpus, l->memlock / 1024, rings, largest_kib(l, rings));
	else if (sys == ENOMEM)
		(void)snprintf(out, size,
			       "%zu rings of this size do not fit into memory; use smaller rings "
			       "(-m) or fewer CPUs (-C)",
			       rings);
	else if (sys == EINVAL)
		(void)snprintf(out, size,
			       "the kernel or the PMU does not support a ring of %" PRIu64
			       " bytes; try another size (-m)",
			       bytes);
	else if (sys == EACCES)
		(void)snprintf(out, size, "the PMU does not allow this mapping of a ring");
}

/* Appends the remedy, and the command that checks the whole machine. */
static int add_remedy(struct ptc_err *err, const char *text)
{
	size_t n = strlen(err->msg);

	if (*text)
		(void)snprintf(err->msg + n, sizeof(err->msg) - n, " (%s)", text);
	n = strlen(err->msg);
	if (n + sizeof(PTC_SEE_DOCTOR) <= sizeof(err->msg)) /* else the remedy is more important */
		memcpy(err->msg + n, PTC_SEE_DOCTOR, sizeof(PTC_SEE_DOCTOR));
	return err->code;
}

int ptc_explain_open(struct ptc_err *err, int sys, const char *what, size_t fds)
{
	struct ptc_limits l;
	char text[sizeof(err->msg)], holders[HOLDERS_MAX] = "";
	size_t n;

	(void)ptc_fail_sys(err, sys, "cannot open %s", what);
	ptc_limits_read(&l);
	ptc_explain_open_text(&l, sys, fds, text, sizeof(text));
	if (sys == EBUSY)
		ptc_holders_text("/proc", holders, sizeof(holders));
	n = strlen(text);
	if (*holders)
		(void)snprintf(text + n, sizeof(text) - n, "; processes with events: %s", holders);
	return add_remedy(err, text);
}

/* Errors of arch/x86/events: x86_add_exclusive, intel_pmu_setup_lbr_filter. */
void ptc_explain_lbr_text(const struct ptc_limits *l, int sys, size_t fds, char *out, size_t size)
{
	static const struct {
		int sys;
		const char *text;
	} fixed[] = {
		{ EBUSY, "this CPU cannot use LBR and Intel PT at the same time (Goldmont and "
			 "later Atoms, Ice Lake and later can), or BTS is in use; record without "
			 "--lbr, or only LBR with perf record -j" },
		{ EOPNOTSUPP,
		  "no LBR, or no LBR call stacks, on this CPU or virtual machine; record without "
		  "--lbr and make branch stacks from the trace (convert --branch-stacks)" },
		{ EINVAL, "the kernel does not support these names of --lbr together (save_type: "
			  "Linux 4.14, hw_index: 5.7, priv: 6.1, counter: 6.8), or -F exceeds "
			  "kernel.perf_event_max_sample_rate" },
		{ ENOENT, "this machine does not have the counter (a virtual machine without a "
			  "PMU?); use another one (--lbr-event), or make branch stacks from the "
			  "trace (convert --branch-stacks)" },
	};
	size_t i;

	ptc_explain_open_text(l, sys, fds, out, size);
	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (fixed[i].sys == sys)
			(void)snprintf(out, size, "%s", fixed[i].text);
}

int ptc_explain_lbr(struct ptc_err *err, int sys, const char *what, size_t fds)
{
	struct ptc_limits l;
	char text[sizeof(err->msg)];

	(void)ptc_fail_sys(err, sys, "cannot open %s", what);
	ptc_limits_read(&l);
	ptc_explain_lbr_text(&l, sys, fds, text, sizeof(text));
	return add_remedy(err, text);
}

int ptc_explain_mmap(struct ptc_err *err, int sys, const char *what, uint64_t bytes, size_t rings)
{
	struct ptc_limits l;
	char text[sizeof(err->msg)];

	(void)ptc_fail_sys(err, sys, "cannot map %s of %" PRIu64 " bytes", what, bytes);
	ptc_limits_read(&l);
	ptc_explain_mmap_text(&l, sys, bytes, rings, text, sizeof(text));
	return add_remedy(err, text);
}
