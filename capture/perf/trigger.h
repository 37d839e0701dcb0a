/* SPDX-License-Identifier: MIT */
/* What asks for snapshots of what the kernel records: signals to it, and places it comes to. */
#ifndef PTC_CAPTURE_PERF_TRIGGER_H
#define PTC_CAPTURE_PERF_TRIGGER_H

#include "capture/perf/breakpoint.h"
#include "capture/watch/watch.h"

struct ptc_trigger {
	struct ptc_watch watch;
	struct ptc_breakpoints breakpoints;
	const struct ptc_clock *clock; /* lent */
	uint64_t behind_ns;	       /* as of struct ptc_taken, of the newest snapshot */
	uint64_t came;		       /* samples of places, in all; */
	uint64_t unseen;	       /* and those of moments without a trace */
};

#define PTC_TRIGGER_INIT                                                                           \
	{                                                                                          \
		.watch = PTC_WATCH_INIT, .breakpoints = PTC_BREAKPOINTS_INIT                       \
	}

/*
 * As ptc_watch_start, and ptc_breakpoints_open. Release it, before the command is waited for,
 * whether this fails or not.
 */
int ptc_trigger_start(struct ptc_trigger *t, const struct ptc_record_opts *opts,
		      const struct ptc_clock *clock, const struct ptc_cpus *cpus, pid_t command,
		      struct ptc_err *err);
void ptc_trigger_release(struct ptc_trigger *t);

/* Readable when it asks for one; -1: never. */
int ptc_trigger_fd(const struct ptc_trigger *t);
/* It was: is there something that asks, still? */
bool ptc_trigger_asks(const struct ptc_trigger *t);

/*
 * The trace is off, and a snapshot is about to be taken: it is for all that has asked. It is on
 * again: what is held goes on, and places that were come to meanwhile ask for none.
 */
void ptc_trigger_pause(struct ptc_trigger *t);
void ptc_trigger_resume(struct ptc_trigger *t);

#endif
