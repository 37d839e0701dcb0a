/* SPDX-License-Identifier: MIT */
/* The state of the kernel's source: open.c makes it, perf.c runs it. */
#ifndef PTC_CAPTURE_PERF_PERF_H
#define PTC_CAPTURE_PERF_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/clock.h"
#include "capture/launch.h"
#include "capture/perf/event.h"
#include "capture/perf/hotplug.h"
#include "capture/perf/set.h"
#include "capture/perf/tasks.h"
#include "capture/perf/trigger.h"
#include "capture/source.h"

struct ptc_perf {
	struct ptc_source base;
	const struct ptc_record_opts *opts;
	struct ptc_event event;
	char *filter;		  /* in the kernel's words; NULL: none */
	struct ptc_event sampler; /* if opts want one */
	struct ptc_clock clock;
	struct ptc_launch launch;
	struct ptc_trigger trigger; /* for snapshots */
	struct ptc_set set;
	struct ptc_hotplug hotplug;	 /* of CPUs, which events are of */
	const struct ptc_source_id *ids; /* the set's */
	size_t nids;
	struct ptc_tids processes;	 /* attached to; of whom records are made */
	int cgroup_fd;			 /* -1: none */
	int pidfd, left_fd, end_fd;	 /* the command ended; we left it; either (epoll) */
	pid_t pid;			 /* the command, or the first process; 0: neither */
	struct ptc_ledger_event *events; /* owned; as they were read at the end */
	uint64_t *restarts;		 /* owned; of each ring */
	bool paused, stopped, reaped;
	int status;
	struct ptc_err failed; /* code 0: not; out of memory while CPUs came */
};

extern const struct ptc_source_ops ptc_perf_ops;

#endif
