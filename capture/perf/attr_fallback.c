/* SPDX-License-Identifier: MIT */
#include "capture/perf/attr_fallback.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * --- features, newest first; each function returns whether the feature was set, and clears it ---
 */

static bool drop_lost(struct perf_event_attr *a)
{
	const bool had = a->read_format & PERF_FORMAT_LOST;

	a->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	return had;
}

#define DROP(name, field)                                                                          \
	static bool drop_##name(struct perf_event_attr *a)                                         \
	{                                                                                          \
		const bool had = a->field;                                                         \
                                                                                                   \
		a->field = 0;                                                                      \
		return had;                                                                        \
	}

DROP(build_id, build_id)
DROP(text_poke, text_poke)
DROP(cgroup, cgroup)
DROP(bpf_event, bpf_event)
DROP(ksymbol, ksymbol)
DROP(namespaces, namespaces)
DROP(context_switch, context_switch)
DROP(comm_exec, comm_exec)
DROP(mmap2, mmap2)

static const struct feature {
	bool (*drop)(struct perf_event_attr *a);
	const char *name, *since;
} features[] = {
	{ drop_lost, "the number of lost records", "6.0" },
	{ drop_build_id, "build-ids of mappings", "5.12" },
	{ drop_text_poke, "changes of kernel code", "5.8" },
	{ drop_cgroup, "the names of cgroups", "5.7" },
	{ drop_bpf_event, "BPF programs", "5.1" },
	{ drop_ksymbol, "symbols of code made at run time", "5.1" },
	{ drop_namespaces, "namespaces", "4.12" },
	{ drop_context_switch, "context switches (the thread on a CPU is unknown)", "4.3" },
	{ drop_comm_exec, "the exec flag of COMM records", "3.16" },
	{ drop_mmap2, "inodes of mappings", "3.16" },
};

enum { FEATURES = sizeof(features) / sizeof(features[0]) };

/* --- the size --- */

static bool zero(const struct perf_event_attr *attr, size_t from)
{
	const uint8_t *bytes = (const uint8_t *)attr;

	for (; from < sizeof(*attr); from++)
		if (bytes[from])
			return false;
	return true;
}

unsigned int ptc_perf_attr_size(const struct perf_event_attr *attr)
{
	static const unsigned int sizes[] = {
		PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER2,
		PERF_ATTR_SIZE_VER3, PERF_ATTR_SIZE_VER4, PERF_ATTR_SIZE_VER5,
		PERF_ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER7, PERF_ATTR_SIZE_VER8,
	};
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (zero(attr, sizes[i]))
			return sizes[i];
	return PERF_ATTR_SIZE_VER9;
}

/* After E2BIG: the kernel has written its own size into attr->size. */
static bool fit_size(struct perf_event_attr *attr, uint32_t tried)
{
	const uint32_t theirs = attr->size;

	attr->size = tried;
	if (theirs < PERF_ATTR_SIZE_VER0 || theirs >= tried || !zero(attr, theirs))
		return false;
	attr->size = theirs;
	return true;
}

/* --- the system call --- */

static int system_call(struct perf_event_attr *attr, const struct ptc_perf_where *at)
{
	const long fd = syscall(SYS_perf_event_open, attr, at->pid, at->cpu,
				at->leader ? *at->leader : -1, at->flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int kernel_open(void *ctx, struct perf_event_attr *attr, const struct ptc_perf_where *at)
{
	struct rlimit files;
	int fd = system_call(attr, at);

	(void)ctx;
	if (fd != -EMFILE || getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= files.rlim_max)
		return fd;
	files.rlim_cur = files.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &files) ? fd : system_call(attr, at);
}

const struct ptc_opener ptc_opener_kernel = { kernel_open, NULL };

/* --- dropping features --- */

struct talk {
	struct perf_event_attr now;
	bool dropped[FEATURES];
	bool no_namespaces, no_kernel; /* not permitted for this user */
};

static bool drop_newest(struct talk *t)
{
	size_t i;

	for (i = 0; i < FEATURES; i++) {
		if (!features[i].drop(&t->now))
			continue;
		t->dropped[i] = true;
		return true;
	}
	return false;
}

/*
 * The system call has failed with @fd. Drops a feature, or returns false if none is left to drop.
 */
static bool give_in(struct talk *t, int fd, uint32_t tried, bool may_exclude)
{
	if (fd == -E2BIG)
		return fit_size(&t->now, tried);
	if (fd == -EINVAL)
		return drop_newest(t);
	if (fd != -EACCES && fd != -EPERM)
		return false;
	if (t->now.namespaces) {
		t->now.namespaces = 0;
		t->no_namespaces = true;
		return true;
	}
	/* A user who may not see changes of kernel code may not trace the kernel either. */
	if (!may_exclude || (t->now.exclude_kernel && !t->now.text_poke))
		return false;
	t->no_kernel = !t->now.exclude_kernel;
	t->now.exclude_kernel = t->now.exclude_hv = 1;
	t->now.text_poke = t->now.ksymbol = t->now.bpf_event = 0;
	return true;
}

static void report_dropped_features(const struct talk *t, void (*note)(void *ctx, const char *text),
				    void *ctx)
{
	char text[160];
	size_t i;

	for (i = 0; i < FEATURES; i++) {
		if (!t->dropped[i])
			continue;
		(void)snprintf(text, sizeof(text),
			       "not recorded: %s (not supported by this kernel; needs Linux %s)",
			       features[i].name, features[i].since);
		note(ctx, text);
	}
	if (t->no_namespaces)
		note(ctx, "not recorded: namespaces, which need CAP_PERFMON");
	if (t->no_kernel)
		note(ctx, "not recorded: the kernel, which needs CAP_PERFMON or "
			  "kernel.perf_event_paranoid below 2");
}

int ptc_perf_negotiate(const struct ptc_opener *opener, struct perf_event_attr *attr,
		       const struct ptc_perf_where *at, bool may_exclude,
		       void (*note)(void *ctx, const char *text), void *note_ctx)
{
	struct talk t = { .now = *attr };
	uint32_t tried;
	int fd;

	t.now.size = ptc_perf_attr_size(&t.now);
	do {
		tried = t.now.size;
		fd = opener->open(opener->ctx, &t.now, at);
	} while (fd < 0 && give_in(&t, fd, tried, may_exclude));
	if (fd < 0)
		return fd;
	*attr = t.now;
	if (note)
		report_dropped_features(&t, note, note_ctx);
	return fd;
}
