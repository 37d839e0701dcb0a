/* SPDX-License-Identifier: MIT */
/*
 * Watches addresses in the recorded code with the processor's breakpoints. They are events that
 * sample after a given number of executions. They have rings of their own, one per CPU, and new
 * threads inherit them.
 */
#ifndef PTC_CAPTURE_PERF_BREAKPOINT_H
#define PTC_CAPTURE_PERF_BREAKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/perf/attr_fallback.h"
#include "capture/perf/cpus.h"
#include "ptcap/capture.h"

struct ptc_breakpoints {
	struct perf_event_mmap_page **rings; /* owned; one per CPU; NULL: none yet */
	int *leaders; /* owned; event that the CPU's ring belongs to; -1: none */
	size_t ncpus;
	int *fds; /* owned; all events */
	size_t nfds, fds_cap;
	int epoll_fd; /* readable when a place was reached; -1: none is watched */
};

#define PTC_BREAKPOINTS_INIT                                                                       \
	{                                                                                          \
		.epoll_fd = -1                                                                     \
	}

/*
 * Watches opts->at on @cpus, in @command, which waits for its exec, or (0) in the targets of @opts.
 * PTC_E_NOT_EXIST: a place is not mapped there. On failure the caller releases @b.
 */
int ptc_breakpoints_open(struct ptc_breakpoints *b, const struct ptc_opener *opener,
			 const struct ptc_record_opts *opts, const struct ptc_cpus *cpus,
			 pid_t command, struct ptc_err *err);
void ptc_breakpoints_release(struct ptc_breakpoints *b);

/*
 * Consumes all samples since the last call. Returns their number, and the time of the newest in the
 * kernel's clock.
 */
size_t ptc_breakpoints_take(struct ptc_breakpoints *b, uint64_t *ret_time_ns);
/*
 * Returns true if there are unread samples. epoll_fd may have been readable for samples that were
 * consumed since.
 */
bool ptc_breakpoints_pending(const struct ptc_breakpoints *b);

#endif
