/* SPDX-License-Identifier: MIT */
/*
 * Records the states of live processes (ptcap/crash.h): registers, memory and mappings of each
 * thread. There is no trace. The processes stand still for some milliseconds. Intel PT is not
 * needed.
 */
#ifndef PTCAP_STATE_RECORDING_H
#define PTCAP_STATE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initialize with PTC_STATE_RECORDING_OPTS_INIT. All pointers are borrowed for the call. */
struct ptc_state_recording_opts {
	size_t size;	    /* sizeof(struct ptc_state_recording_opts) */
	const pid_t *pids;  /* the processes */
	size_t npids;	    /* at least 1 */
	const char *output; /* path of the recording; NULL: it is in memory */
	bool no_memory;	    /* record no memory: only the innermost frame of each thread is known */
	/* The user's command line for the CMDLINE feature, NULL-terminated. NULL: not written. */
	const char *const *cmdline;
};

/* No process yet, in memory. */
#ifdef __cplusplus
static inline struct ptc_state_recording_opts ptc_state_recording_opts_init(void)
{
	struct ptc_state_recording_opts ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_STATE_RECORDING_OPTS_INIT ptc_state_recording_opts_init()
#else
/* clang-format off */
#define PTC_STATE_RECORDING_OPTS_INIT                                                          \
	{                                                                                          \
		.size = sizeof(struct ptc_state_recording_opts)                                    \
	}
/* clang-format on */
#endif

/*
 * Write a recording with the state of each process. *@ret_fd: without @opts->output the descriptor
 * of the recording, which the caller closes; otherwise -1. On failure there is no recording.
 * PTC_E_NOT_EXIST: a process does not exist. PTC_E_PERM: ptrace is not allowed. PTC_E_USAGE:
 * options without a size, or no process. PTC_E_UNSUPPORTED: unknown options of a newer caller.
 */
PTC_API int ptc_record_states(const struct ptc_state_recording_opts *opts, int *ret_fd,
			      struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
