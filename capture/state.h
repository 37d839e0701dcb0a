/* SPDX-License-Identifier: MIT */
/* The state of a process that a signal is about to kill, as records (ptcap/crash.h). */
#ifndef PTC_CAPTURE_STATE_H
#define PTC_CAPTURE_STATE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/buf.h"

struct ptc_state_thread {
	pid_t tid;
	bool in_call; /* regs are those that its system call was made with */
	const struct user_regs_struct *regs;
};

#define PTC_STATE_NO_TIME UINT64_MAX /* not known */

/* All of it is lent. */
struct ptc_state {
	pid_t pid, tid; /* whom the signal kills */
	const siginfo_t *info;
	uint64_t time_ns;
	const struct ptc_state_thread *threads;
	size_t nthreads;
	bool no_memory; /* keep none */
};

/* Is @sig in the set @signals, bit N-1 of which is signal N? */
static inline bool ptc_signals_have(uint64_t signals, int sig)
{
	return sig >= 1 && sig <= 64 && signals >> (sig - 1) & 1;
}

/*
 * Will @sig, about to be delivered to @tid, end its process: is it neither handled nor ignored,
 * and does that end processes? False if that is not to be found out: it is gone.
 */
bool ptc_state_is_fatal(const char *proc, pid_t tid, int sig);

/* Append the records. What cannot be read of the process, which may be killed meanwhile, is left
 * out. */
void ptc_state_put(struct ptc_buf *b, const struct ptc_state *s);

#endif
