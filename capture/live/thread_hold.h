/* SPDX-License-Identifier: MIT */
/*
 * Stops all threads of a process for a moment, and lets them run on as if nothing had happened.
 *
 * The caller may be killed at any time. The kernel then detaches. It keeps a signal that a thread
 * was about to receive, because the stops are never consumed (WNOWAIT). A process that was stopped
 * before stays stopped. The kernel ends some system calls with EINTR at any stop (signal(7)). The
 * release restarts these calls, so the program does not see that error.
 */
#ifndef PTC_CAPTURE_LIVE_THREAD_HOLD_H
#define PTC_CAPTURE_LIVE_THREAD_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "ptcap/error.h"

struct ptc_held_thread {
	pid_t tid;
	bool ended;	 /* has ended; the other members are not valid */
	bool stopped;	 /* true: the members below are valid */
	bool restarts;	 /* the release restarts a system call that the stop ended with EINTR */
	bool in_call;	 /* regs belong to the start of a system call that has not returned */
	int stop_signal; /* job control had stopped the process with this signal; 0: it ran */
	int signal;	 /* the thread was about to receive this signal; 0: none */
	struct user_regs_struct regs;
};

struct ptc_hold {
	pid_t pid;
	struct ptc_held_thread *items; /* owned */
	size_t n, cap;
	uint64_t since_ns; /* time from which on threads may stand still; 0: not yet */
	uint64_t restarted;
};

/*
 * Seizes all threads of process @pid. A thread stops only if a signal arrives. @h starts zeroed.
 * Call ptc_hold_resume and ptc_hold_release also after a failure. PTC_E_NOT_EXIST: there is no such
 * process, or it has ended. PTC_E_PERM names the reason, and a tracer that is already attached.
 */
int ptc_hold_seize(struct ptc_hold *h, pid_t pid, struct ptc_err *err);

/*
 * Stops all threads, also new ones, and reads their registers. A thread in an uninterruptible sleep
 * stays !stopped. A thread that gets no CPU is waited for, for two seconds in all. SIGCHLD must
 * not be ignored.
 */
int ptc_hold_stop(struct ptc_hold *h, struct ptc_err *err);

/*
 * Lets all threads run on, and detaches. Returns how long they stood still, in nanoseconds; 0: not
 * at all. The list of threads stays.
 */
uint64_t ptc_hold_resume(struct ptc_hold *h);

/* Frees the list. Call ptc_hold_resume before. */
void ptc_hold_release(struct ptc_hold *h);

#endif
