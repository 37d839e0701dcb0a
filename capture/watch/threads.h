/* SPDX-License-Identifier: MIT */
/* Stops the other threads of a process that is about to die, while its state is saved. */
#ifndef PTC_CAPTURE_WATCH_THREADS_H
#define PTC_CAPTURE_WATCH_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/user.h>

#include "ptcap/error.h"

struct ptc_thread {
	pid_t tid;
	bool stopped; /* true: the members below are valid */
	bool in_call; /* regs belong to the start of a system call that has not returned */
	int status;   /* wait status of the stop */
	struct user_regs_struct regs;
};

struct ptc_threads {
	struct ptc_thread *items; /* owned */
	size_t n, cap;
};

/*
 * Stops all threads of process @pid that the calling thread has seized, except @but, which is
 * already stopped. A thread in an uninterruptible sleep may not stop within a second or two. It
 * stays in *t as !stopped. @t starts zeroed. Call ptc_threads_let_go also after a failure. SIGCHLD
 * must be blocked and not ignored.
 */
int ptc_threads_stop(struct ptc_threads *t, pid_t pid, pid_t but, struct ptc_err *err);
/*
 * Waits, for a second or two at most, until the kernel has killed all stopped threads. Before the
 * call, one thread of their process was resumed with a fatal signal. So none of them moves before
 * it dies. A thread released too early would run until it sees the signal, and the core dump would
 * differ from the saved state.
 */
void ptc_threads_await_death(const struct ptc_threads *t);
/* Resumes the threads that are still alive. */
void ptc_threads_let_go(struct ptc_threads *t);

/*
 * Reads the registers of @tid. If @tid is in a system call that will be restarted, *ret is set to
 * the start of that call, and *ret_in_call is true.
 */
bool ptc_thread_regs(pid_t tid, struct user_regs_struct *ret, bool *ret_in_call);

/*
 * Resumes @tid after a stop with @status, as if it were not traced: signals are delivered, and a
 * group stop goes on.
 */
void ptc_thread_resume(pid_t tid, int status);

#endif
