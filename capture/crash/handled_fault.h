/* SPDX-License-Identifier: MIT */
/*
 * Keeps the state of processes at a fault that they handle. A runtime, for example Go's, handles a
 * fault, prints a report and exits. If a process exits with a failure after that, the state at the
 * delivery of the signal shows the reason.
 */
#ifndef PTC_CAPTURE_CRASH_HANDLED_FAULT_H
#define PTC_CAPTURE_CRASH_HANDLED_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "capture/crash/state_capture.h"

enum {
	PTC_HANDLED_PROCESSES = 16, /* at a time; faults of others are not kept */
	/* Some runtimes use faults as a matter of course. A process with more faults is left out.
	 */
	PTC_HANDLED_FAULTS = 64,
};

struct ptc_handled_process {
	pid_t pid;		/* 0: unused */
	unsigned int faults;	/* handled until now */
	struct ptc_buf records; /* owned; the state at the last of them */
};

/* An all-zero structure is empty. */
struct ptc_handled {
	struct ptc_handled_process items[PTC_HANDLED_PROCESSES];
};

/* Returns true if the processor or the kernel caused the signal: SIGSEGV, SIGBUS, SIGFPE, SIGILL.
 */
bool ptc_handled_is_fault(const siginfo_t *info);

/* Keeps the state of a process that handles a fault, instead of an earlier one. */
void ptc_handled_keep(struct ptc_handled *h, const struct ptc_state *s);

/*
 * A thread of process @pid, which may be unknown, ends with @status, as from waitpid(). Returns the
 * records of the last fault, with the exit status in them, if the process exits with a failure;
 * otherwise NULL. The records are valid until the next call.
 */
const struct ptc_buf *ptc_handled_end(struct ptc_handled *h, pid_t pid, int status);

/* Process @pid, which may be unknown, has ended. */
void ptc_handled_forget(struct ptc_handled *h, pid_t pid);

void ptc_handled_release(struct ptc_handled *h);

#endif
