/* SPDX-License-Identifier: MIT */
/*
 * Opens events with the features that this kernel and user permit: attr features are dropped one by
 * one until perf_event_open succeeds.
 */
#ifndef PTC_CAPTURE_PERF_ATTR_FALLBACK_H
#define PTC_CAPTURE_PERF_ATTR_FALLBACK_H

#include <stdbool.h>
#include <sys/types.h>

#include <linux/perf_event.h>

/* Target of an event, as in the system call. */
struct ptc_perf_where {
	pid_t pid; /* -1: any task; with PERF_FLAG_PID_CGROUP a descriptor */
	int cpu;   /* -1: any */
	unsigned long flags;
	const int *leader; /* descriptor of the group leader; NULL: no group */
};

/* The system call, or a substitute in tests. Returns a descriptor or a negative errno. */
struct ptc_opener {
	int (*open)(void *ctx, struct perf_event_attr *attr, const struct ptc_perf_where *at);
	void *ctx;
};

/* perf_event_open(2) itself. On EMFILE the soft limit is raised to the hard limit, once. */
extern const struct ptc_opener ptc_opener_kernel;

/*
 * Opens @attr, and changes it to what was opened. Returns a descriptor, or a negative errno with
 * *@attr unchanged. Features are dropped in this order, the newest in the kernel first: LOST in
 * read_format, build_id, text_poke, cgroup, ksymbol and bpf_event, namespaces, context_switch,
 * comm_exec, mmap2. For lack of permission namespaces are dropped, and then, if @may_exclude, the
 * kernel (:u). attr->size is lowered to the kernel's size if the bytes beyond it are zero. @note
 * gets a text for each dropped feature after success; it may be NULL.
 */
int ptc_perf_negotiate(const struct ptc_opener *opener, struct perf_event_attr *attr,
		       const struct ptc_perf_where *at, bool may_exclude,
		       void (*note)(void *ctx, const char *text), void *note_ctx);

/* Returns the smallest published size that covers all non-zero bytes of @attr. */
unsigned int ptc_perf_attr_size(const struct perf_event_attr *attr);

#endif
