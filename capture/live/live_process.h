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

/* Lets the caller end the wait for the states. */
struct ptc_live_caller {
	int fd; /* readable: wants_end is called. -1: none */
	bool (*wants_end)(void *ctx);
	void *ctx;
};

struct ptc_live_targets {
	const pid_t *pids; /* borrowed */
	size_t npids;
	bool no_memory;			      /* as in struct ptc_live */
	const struct ptc_live_caller *caller; /* borrowed; NULL: the wait has no end */
};

/* States that could not be read, although the processes had not ended. Starts zeroed. */
struct ptc_live_missing {
	uint64_t n;	      /* their number */
	struct ptc_err first; /* valid if n is not 0 */
};

/*
 * Appends the states of the processes in @t. *@ret: number of states, added to.
 *
 * @missing NULL: each failure is an error: those of ptc_live_put. PTC_E_IO: pt-stacks could not be
 * started, or was killed. Otherwise a process that has ended is left out, any other failure is
 * added to @missing, and only PTC_E_NO_MEMORY is an error. The states that a killed pt-stacks had
 * read are kept.
 *
 * With @t->caller a pt-stacks that does not end within ten seconds is killed. If the caller wants
 * an end, pt-stacks has one second more.
 */
int ptc_live_process_read(struct ptc_buf *b, const struct ptc_live_targets *t, uint64_t *ret,
			  struct ptc_live_missing *missing, struct ptc_err *err);

#endif
