/* SPDX-License-Identifier: MIT */
/*
 * Watches signals for a source that does not trace the program itself: opts->crash and
 * opts->on_signals. The watcher is a separate process (watcher.h), because ptrace stops arrive in a
 * wait that only a signal interrupts. Killing it is safe at any time. Signals are then no longer
 * watched.
 */
#ifndef PTC_CAPTURE_WATCH_WATCH_H
#define PTC_CAPTURE_WATCH_WATCH_H

#include <stdbool.h>

#include "capture/crash/state_channel.h"
#include "capture/host/clock.h"
#include "capture/step/tracer_process.h"
#include "ptcap/capture.h"

struct ptc_watch {
	const struct ptc_record_opts *opts; /* borrowed, as is clock */
	const struct ptc_clock *clock;
	struct ptc_step_process process;
	struct ptc_states states;
	int held_fd;  /* an eventfd: readable when a thread is held; -1: never */
	bool holding; /* the current snapshot is for a held thread */
	pid_t command;
	/* Valid once the watcher has ended: see struct ptc_record_result. */
	uint64_t crashes, handled;
	bool ended; /* ptc_watch_end was called, with the result below */
	int rc;
	struct ptc_err err;
};

#define PTC_WATCH_INIT                                                                             \
	{                                                                                          \
		.process = PTC_STEP_PROCESS_INIT, .states = PTC_STATES_INIT, .held_fd = -1         \
	}

/*
 * Starts watching @command, which waits for its exec, or (0) the targets of @opts. Does nothing if
 * @opts watches no signals. On failure the caller releases @w.
 */
int ptc_watch_start(struct ptc_watch *w, const struct ptc_record_opts *opts,
		    const struct ptc_clock *clock, pid_t command, struct ptc_err *err);

/*
 * Call before and after a snapshot. A thread that was held for the snapshot continues at the
 * resume.
 */
void ptc_watch_pause(struct ptc_watch *w);
void ptc_watch_resume(struct ptc_watch *w);

/* Asks the watcher to stop. Repeat the call until it has ended; ptc_watch_end waits for that. */
void ptc_watch_leave(struct ptc_watch *w);
/*
 * Waits for the watcher's end. Returns an error if it had ended early, so that later signals were
 * not seen. A later call returns the same.
 */
int ptc_watch_end(struct ptc_watch *w, struct ptc_err *err);
/* Ends the watcher too. Accepts PTC_WATCH_INIT. */
void ptc_watch_release(struct ptc_watch *w);

#endif
