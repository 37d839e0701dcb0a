/* SPDX-License-Identifier: MIT */
/*
 * Signals that come to what a source records which does not trace it itself: opts->crash and
 * opts->on_signals. What watches is a process of its own (watcher.h), as ptrace stops come to a
 * wait, which nothing but a signal interrupts. It may be killed at any time; then nothing is
 * watched any more.
 */
#ifndef PTC_CAPTURE_WATCH_WATCH_H
#define PTC_CAPTURE_WATCH_WATCH_H

#include <stdbool.h>

#include "capture/clock.h"
#include "capture/states.h"
#include "capture/step/process.h"
#include "ptcap/capture.h"

struct ptc_watch {
	const struct ptc_record_opts *opts; /* lent, as is clock */
	const struct ptc_clock *clock;
	struct ptc_step_process process;
	struct ptc_states states;
	int held_fd;  /* an eventfd: readable when something is held; -1: never */
	bool holding; /* the snapshot that is being taken is for that */
	pid_t command;
	uint64_t crashes; /* processes whose state was saved; once it has ended */
};

#define PTC_WATCH_INIT                                                                             \
	{                                                                                          \
		.process = PTC_STEP_PROCESS_INIT, .states = PTC_STATES_INIT, .held_fd = -1         \
	}

/*
 * Begin to watch @command, which waits for its exec, or (0) what @opts attaches to. Nothing
 * happens if @opts asks for nothing. On failure release it.
 */
int ptc_watch_start(struct ptc_watch *w, const struct ptc_record_opts *opts,
		    const struct ptc_clock *clock, pid_t command, struct ptc_err *err);

/* A snapshot is about to be taken, and was: if something was held for it, it goes on. */
void ptc_watch_pause(struct ptc_watch *w);
void ptc_watch_resume(struct ptc_watch *w);

/* Watch no more; to be repeated until it has ended, which ptc_watch_end waits for. */
void ptc_watch_leave(struct ptc_watch *w);
/* An error: it had ended before, and signals were not seen from then on. */
int ptc_watch_end(struct ptc_watch *w, struct ptc_err *err);
/* Ends it, too. Accepts PTC_WATCH_INIT. */
void ptc_watch_release(struct ptc_watch *w);

#endif
