/* SPDX-License-Identifier: MIT */
/*
 * Waits for signals, in a process of its own. It has seized threads (PTRACE_SEIZE). They stop only
 * for signals, job control, and new threads or processes, which are watched too. It never steps a
 * thread, and interrupts only threads of a dying process. When it ends, the threads continue
 * unchanged.
 */
#ifndef PTC_CAPTURE_WATCH_WATCHER_H
#define PTC_CAPTURE_WATCH_WATCHER_H

#include "capture/crash/state_channel.h"
#include "capture/host/clock.h"
#include "capture/step/tracer_process.h"
#include "ptcap/capture.h"

struct ptc_watcher {
	const struct ptc_record_opts *opts; /* all members are borrowed; targets and signals */
	const struct ptc_clock *clock;
	struct ptc_step_shared *shared;
	const struct ptc_states *states;
	int held_fd; /* -1: no snapshots are taken */
};

/*
 * Seizes the threads of opts->pids and opts->tids, or @command. PTC_E_PERM names the reason, and a
 * tracer that is already attached.
 */
int ptc_watcher_seize(const struct ptc_watcher *w, pid_t command, struct ptc_err *err);

/* Watches until all targets have ended, or until shared->want changes. */
int ptc_watcher_run(const struct ptc_watcher *w, struct ptc_err *err);

#endif
