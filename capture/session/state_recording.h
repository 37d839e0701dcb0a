/* SPDX-License-Identifier: MIT */
/* Records the state of live processes (capture/live), without events and without a trace. */
#ifndef PTC_CAPTURE_SESSION_STATE_RECORDING_H
#define PTC_CAPTURE_SESSION_STATE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "ptcap/error.h"

struct ptc_stacks_opts {
	const pid_t *pids;  /* all pointers are borrowed */
	size_t npids;	    /* at least 1 */
	const char *output; /* path of the recording; NULL: it is in memory */
	bool no_memory;	    /* record no memory: only the innermost frame of each thread is known */
	const char *const *cmdline; /* the user's command line; NULL-terminated */
};

/*
 * Writes a recording with the state of each process. *@ret_fd: without @opts->output the descriptor
 * of the recording, which the caller closes; otherwise -1. On failure there is no recording.
 * Errors: of ptc_live_process_read, and of the writer.
 */
int ptc_stacks_take(const struct ptc_stacks_opts *opts, int *ret_fd, struct ptc_err *err);

enum { PTC_STACKS_ROOT = 64 };

/*
 * Writes the folder in which the files of process @pid are, "/proc/PID/root". Returns false if they
 * are in the same place as ours: the process is in no container.
 */
bool ptc_stacks_root(pid_t pid, char ret[PTC_STACKS_ROOT]);

#endif
