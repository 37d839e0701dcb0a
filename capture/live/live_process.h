/* SPDX-License-Identifier: MIT */
/*
 * Reads the states of live processes, in a process of its own (pt-stacks). It finishes its work
 * even if ptcap is killed meanwhile. A timer kills a pt-stacks that is late. At its end the kernel
 * also releases threads that did not stop.
 */
#ifndef PTC_CAPTURE_LIVE_LIVE_PROCESS_H
#define PTC_CAPTURE_LIVE_LIVE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "ptcap/error.h"

struct ptc_live_targets {
	const pid_t *pids; /* borrowed */
	size_t npids;
	bool no_memory; /* as in struct ptc_live */
	/* Leave out a process that has ended, or that ptrace refuses. Otherwise it is an error. */
	bool may_fail;
};

/*
 * Appends the states of the processes in @t. *@ret: number of states, added to. Errors: of
 * ptc_live_put. PTC_E_IO: pt-stacks could not be started, or was killed.
 */
int ptc_live_process_read(struct ptc_buf *b, const struct ptc_live_targets *t, uint64_t *ret,
			  struct ptc_err *err);

#endif
