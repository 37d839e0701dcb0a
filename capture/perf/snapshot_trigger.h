/* SPDX-License-Identifier: MIT */
/* Requests snapshots for the kernel's source: at signals, and when a place is reached. */
#ifndef PTC_CAPTURE_PERF_SNAPSHOT_TRIGGER_H
#define PTC_CAPTURE_PERF_SNAPSHOT_TRIGGER_H

#include "capture/perf/breakpoint.h"
#include "capture/watch/watch.h"

struct ptc_trigger {
	struct ptc_watch watch;
	struct ptc_breakpoints breakpoints;
	const struct ptc_clock *clock; /* borrowed */
	uint64_t behind_ns;	       /* of the newest snapshot; see struct ptc_taken */
	uint64_t came;		       /* number of samples of places */
	uint64_t unseen;	       /* of these, samples while the trace was off */
};

#define PTC_TRIGGER_INIT                                                                           \
	{                                                                                          \
		.watch = PTC_WATCH_INIT, .breakpoints = PTC_BREAKPOINTS_INIT                       \
	}

/*
 * Starts the watcher and the breakpoints, as ptc_watch_start and ptc_breakpoints_open do. Call
 * ptc_trigger_release also after a failure, and before waiting for the command.
 */
int ptc_trigger_start(struct ptc_trigger *t, const struct ptc_record_opts *opts,
		      const struct ptc_clock *clock, const struct ptc_cpus *cpus, pid_t command,
		      struct ptc_err *err);
void ptc_trigger_release(struct ptc_trigger *t);

/* Returns a descriptor that is readable when a snapshot is requested; -1: never. */
int ptc_trigger_fd(const struct ptc_trigger *t);
/* Returns true if a request is still pending. */
bool ptc_trigger_asks(const struct ptc_trigger *t);

/*
 * ptc_trigger_pause: the trace is off, and the next snapshot answers all pending requests.
 * ptc_trigger_resume: the trace is on again. Held threads continue, and places reached in between
 * request no snapshot.
 */
void ptc_trigger_pause(struct ptc_trigger *t);
void ptc_trigger_resume(struct ptc_trigger *t);

#endif
