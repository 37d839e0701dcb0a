/* SPDX-License-Identifier: MIT */
/* The state of the kernel's source: open.c creates it, perf.c runs it. */
#ifndef PTC_CAPTURE_PERF_PERF_H
#define PTC_CAPTURE_PERF_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/host/clock.h"
#include "capture/host/launch.h"
#include "capture/host/tasks.h"
#include "capture/perf/event.h"
#include "capture/perf/event_set.h"
#include "capture/perf/hotplug.h"
#include "capture/perf/snapshot_trigger.h"
#include "capture/source/source.h"

struct ptc_perf {
	struct ptc_source base;
	const struct ptc_record_opts *opts;
	struct ptc_event event;
	char *filter;		  /* in the kernel's syntax; NULL: none */
	struct ptc_event sampler; /* valid if opts ask for one */
	struct ptc_clock clock;
	struct ptc_launch launch;
	struct ptc_trigger trigger; /* requests snapshots */
	struct ptc_set set;
	struct ptc_hotplug hotplug;	 /* for recordings of CPUs */
	const struct ptc_source_id *ids; /* owned by the set */
	size_t nids;
	struct ptc_tids processes; /* processes to write records about */
	int cgroup_fd;		   /* -1: none */
	/* readable when: the command ended; we left it; either (an epoll) */
	int pidfd, left_fd, end_fd;
	pid_t pid;			 /* the command, or the first process; 0: neither */
	struct ptc_ledger_event *events; /* owned; read at the end */
	uint64_t *restarts;		 /* owned; one per ring */
	bool paused, stopped, reaped;
	int status;
	struct ptc_err failed; /* code 0: no error; else out of memory while a CPU came online */
};

extern const struct ptc_source_ops ptc_perf_ops;

#endif
