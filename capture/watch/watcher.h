/* SPDX-License-Identifier: MIT */
/*
 * Who waits for signals, in a process of its own: it has seized threads (PTRACE_SEIZE), and
 * nothing stops them but signals, job control and births of threads and processes, which are
 * watched as well. When it ends, they are as they were: it never steps, and never interrupts what
 * does not die.
 */
#ifndef PTC_CAPTURE_WATCH_WATCHER_H
#define PTC_CAPTURE_WATCH_WATCHER_H

#include "capture/clock.h"
#include "capture/states.h"
#include "capture/step/process.h"
#include "ptcap/capture.h"

struct ptc_watcher {
	const struct ptc_record_opts *opts; /* lent, as is all of it; whom, and which signals */
	const struct ptc_clock *clock;
	struct ptc_step_shared *shared;
	const struct ptc_states *states;
	int held_fd; /* -1: nobody takes snapshots */
};

/*
 * Seize the threads of opts->pids and opts->tids, or @command. PTC_E_PERM with the reason, and
 * with whoever traces already.
 */
int ptc_watcher_seize(const struct ptc_watcher *w, pid_t command, struct ptc_err *err);

/* Until all that is watched has ended, or something else is wanted (shared->want). */
int ptc_watcher_run(const struct ptc_watcher *w, struct ptc_err *err);

#endif
