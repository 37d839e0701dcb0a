/* SPDX-License-Identifier: MIT */
/*
 * perf_event_open with what this kernel and this user may have: newer features of
 * the attr are left out one by one until it opens.
 */
#ifndef PTC_CAPTURE_PERF_NEGOTIATE_H
#define PTC_CAPTURE_PERF_NEGOTIATE_H

#include <stdbool.h>
#include <sys/types.h>

#include <linux/perf_event.h>

/* What an event is opened on, as the system call has it. */
struct ptc_perf_where {
	pid_t pid; /* -1: whatever runs; with PERF_FLAG_PID_CGROUP a descriptor */
	int cpu;   /* -1: any */
	unsigned long flags;
	const int *leader; /* descriptor of the leader of its group; NULL: it has none */
};

/* The system call, or a test in its place. Returns a descriptor, or a negative errno. */
struct ptc_opener {
	int (*open)(void *ctx, struct perf_event_attr *attr, const struct ptc_perf_where *at);
	void *ctx;
};

/* perf_event_open(2) itself. On EMFILE the soft limit is raised to the hard one, once. */
extern const struct ptc_opener ptc_opener_kernel;

/*
 * Open @attr, and change it to what was opened. Left out are, in the order in which
 * kernels have learned them, newest first: LOST in read_format, build_id, text_poke,
 * cgroup, ksymbol and bpf_event, namespaces, context_switch, comm_exec, mmap2; what a
 * user may not have: namespaces, then, if @may_exclude, the kernel (:u). attr->size is
 * lowered to the kernel's where what is beyond is zero. @note is told each of them, once
 * it opened, and may be NULL. Returns a descriptor, or a negative errno with *@attr as it was.
 */
int ptc_perf_negotiate(const struct ptc_opener *opener, struct perf_event_attr *attr,
		       const struct ptc_perf_where *at, bool may_exclude,
		       void (*note)(void *ctx, const char *text), void *note_ctx);

/* The smallest published size that holds all of @attr. */
unsigned int ptc_perf_attr_size(const struct perf_event_attr *attr);

#endif
