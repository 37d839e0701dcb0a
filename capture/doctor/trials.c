/* SPDX-License-Identifier: MIT */
/* Trials: calls that a recording makes, made once, with their effect undone at once. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/doctor/facts.h"
#include "capture/live/ptrace_probe.h"
#include "capture/perf/attr_fallback.h"
#include "capture/perf/event.h"

#include <linux/perf_event.h>

/* Returns a descriptor or a negative errno. */
static int try_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	const struct ptc_perf_where at = { .pid = pid, .cpu = cpu, .flags = PERF_FLAG_FD_CLOEXEC };

	attr->disabled = 1;
	attr->size = ptc_perf_attr_size(attr);
	return ptc_opener_kernel.open(ptc_opener_kernel.ctx, attr, &at);
}

/* Returns 0 or an errno. */
static int try_close(int fd)
{
	if (fd < 0)
		return -fd;
	(void)close(fd);
	return 0;
}

static struct perf_event_attr dummy(bool user_only)
{
	return (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
					 .config = PERF_COUNT_SW_DUMMY,
					 .exclude_kernel = user_only,
					 .exclude_hv = user_only };
}

/*
 * The kernel checks attr.size first. For a size that it does not know, it refuses bytes that are
 * not zero, and writes its own size (kernel/events/core.c, perf_copy_attr).
 */
static uint32_t ask_attr_size(void)
{
	union {
		struct perf_event_attr attr;
		unsigned char bytes[4096];
	} big = { .attr = dummy(true) };
	const struct ptc_perf_where at = { .pid = 0, .cpu = -1, .flags = PERF_FLAG_FD_CLOEXEC };

	big.attr.size = sizeof(big);
	big.bytes[sizeof(big) - 1] = 1;
	if (ptc_opener_kernel.open(ptc_opener_kernel.ctx, &big.attr, &at) != -E2BIG ||
	    big.attr.size == sizeof(big))
		return 0;
	return big.attr.size;
}

/* ptc_perf_negotiate() reports each record that the kernel does not make. */
static void note_lack(void *ctx, const char *text)
{
	static const char prefix[] = "not recorded: ";
	struct ptc_trials *t = ctx;
	const size_t n = strlen(t->lacks);

	if (!strncmp(text, prefix, sizeof(prefix) - 1) && strstr(text, "needs Linux"))
		(void)snprintf(t->lacks + n, sizeof(t->lacks) - n, "%s%s", n ? "; " : "",
			       text + sizeof(prefix) - 1);
}

/* Opens an event that asks for all records of a recording. */
static void try_records(struct ptc_trials *t)
{
	struct perf_event_attr attr = dummy(true);
	const struct ptc_perf_where at = { .pid = 0, .cpu = -1, .flags = PERF_FLAG_FD_CLOEXEC };

	attr.disabled = attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	attr.context_switch = attr.cgroup = attr.build_id = attr.ksymbol = attr.bpf_event = 1;
	attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	(void)try_close(ptc_perf_negotiate(&ptc_opener_kernel, &attr, &at, true, note_lack, t));
}

static int try_branches(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.config = PERF_COUNT_HW_CPU_CYCLES,
					.sample_period = 1000000,
					.sample_type = PERF_SAMPLE_BRANCH_STACK,
					.branch_sample_type = PERF_SAMPLE_BRANCH_USER |
							      PERF_SAMPLE_BRANCH_ANY,
					.exclude_kernel = 1,
					.exclude_hv = 1 };

	return try_close(try_open(&attr, 0, -1));
}

/* Opens an event of Intel PT. While it is open, also one with branch stacks. */
static void try_pt(struct ptc_trials *t)
{
	const struct ptc_event_base base = { .psb_period = 0 };
	struct ptc_event e;
	struct ptc_err ignored;
	int fd;

	t->pt = t->branches_by_pt = ENODEV;
	if (ptc_event_parse(&e, PTC_EVENT_DEFAULT, &base, "", &ignored))
		return;
	fd = try_open(&e.attr, 0, -1);
	t->branches_by_pt = fd < 0 ? -fd : try_branches();
	t->pt = try_close(fd);
}

static int try_kcore(void)
{
	const int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? errno : try_close(fd);
}

void ptc_facts_try(struct ptc_facts *f)
{
	struct perf_event_attr user = dummy(true), kernel = dummy(false), cpu = dummy(true);
	struct ptc_trials *t = &f->tried;

	t->attr_size = ask_attr_size();
	t->event = try_close(try_open(&user, 0, -1));
	t->kernel_part = try_close(try_open(&kernel, 0, -1));
	t->cpu = try_close(try_open(&cpu, -1, 0));
	if (!t->event)
		try_records(t);
	try_pt(t);
	t->branches = try_branches();
	t->trace = ptc_ptrace_probe();
	t->kcore = try_kcore();
}
