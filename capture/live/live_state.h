/* SPDX-License-Identifier: MIT */
/*
 * The state of a live process as records (ptcap/crash.h): what each thread does, its registers and
 * its stack. The process stands still only while registers and memory are copied.
 */
#ifndef PTC_CAPTURE_LIVE_LIVE_STATE_H
#define PTC_CAPTURE_LIVE_LIVE_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "ptcap/error.h"

struct ptc_copy_budget;

struct ptc_live {
	struct ptc_copy_budget *budget; /* borrowed; NULL: of its own (process_copy.h) */
	pid_t pid;
	uint64_t time_ns; /* by the clock of the recording's records, or PTC_STATE_NO_TIME */
	bool no_memory;	  /* record no memory */
};

/*
 * Appends the state of process @l->pid. SIGCHLD must not be ignored. The calling thread becomes the
 * tracer for a moment. A timer kills the calling process (SIGKILL) if the threads of @l->pid may
 * have stood still for five seconds: the kernel then lets these threads run on. The timer also
 * ends the rest of the work, after 20 seconds. On failure @b may have incomplete records.
 * PTC_E_NOT_EXIST: there is no such process, or it has ended. PTC_E_PERM: ptrace refuses.
 * PTC_E_UNSUPPORTED: a 32-bit process. PTC_E_IO: no timer.
 */
int ptc_live_put(struct ptc_buf *b, const struct ptc_live *l, struct ptc_err *err);

#endif
