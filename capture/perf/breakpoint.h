/* SPDX-License-Identifier: MIT */
/*
 * Places in the code of what is recorded, watched by the processor's breakpoints: events that
 * sample when control has come there so many times. They have rings of their own, one for each
 * CPU, and the threads that are born inherit them.
 */
#ifndef PTC_CAPTURE_PERF_BREAKPOINT_H
#define PTC_CAPTURE_PERF_BREAKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/perf/cpus.h"
#include "capture/perf/negotiate.h"
#include "ptcap/capture.h"

struct ptc_breakpoints {
	struct perf_event_mmap_page **rings; /* owned; of each CPU; NULL: it has none yet */
	int *leaders;			     /* owned; whose rings they are; -1: none */
	size_t ncpus;
	int *fds; /* owned; of all events */
	size_t nfds, fds_cap;
	int epoll_fd; /* readable when a place was come to; -1: none is watched */
};

#define PTC_BREAKPOINTS_INIT                                                                       \
	{                                                                                          \
		.epoll_fd = -1                                                                     \
	}

/*
 * Watch opts->at in @command, which waits for its exec, or (0) in what @opts attaches to, on
 * @cpus; a place that is not mapped there is PTC_E_NOT_EXIST. On failure release it.
 */
int ptc_breakpoints_open(struct ptc_breakpoints *b, const struct ptc_opener *opener,
			 const struct ptc_record_opts *opts, const struct ptc_cpus *cpus,
			 pid_t command, struct ptc_err *err);
void ptc_breakpoints_release(struct ptc_breakpoints *b);

/*
 * What has come to a place since the last time: how many samples there are of that, and the time
 * of the newest, by the kernel's clock.
 */
size_t ptc_breakpoints_take(struct ptc_breakpoints *b, uint64_t *ret_time_ns);
/* Is there any? That epoll_fd was readable may be of what was taken meanwhile. */
bool ptc_breakpoints_pending(const struct ptc_breakpoints *b);

#endif
