/* SPDX-License-Identifier: MIT */
/* The other threads of a process that is about to die, stopped until that is written down. */
#ifndef PTC_CAPTURE_WATCH_THREADS_H
#define PTC_CAPTURE_WATCH_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/user.h>

#include "ptcap/error.h"

struct ptc_thread {
	pid_t tid;
	bool stopped; /* the rest is valid */
	bool in_call; /* regs are those that its system call was made with */
	int status;   /* of the stop */
	struct user_regs_struct regs;
};

struct ptc_threads {
	struct ptc_thread *items; /* owned */
	size_t n, cap;
};

/*
 * Stop what the calling thread has seized of process @pid, but for @but, which is stopped already.
 * One that does not stop within a second or two, as it sleeps where nothing wakes it, stays as it
 * is (!stopped). Starts zeroed; released, whether this fails or not, by ptc_threads_let_go.
 * SIGCHLD must be blocked, and not ignored.
 */
int ptc_threads_stop(struct ptc_threads *t, pid_t pid, pid_t but, struct ptc_err *err);
/*
 * Wait, for a second or two at most, until the kernel has killed all that have stopped: one of
 * their process was let go with a fatal signal. None has moved then; one that is let go too early
 * runs until the signal is seen, and is not in the core where it was said to be.
 */
void ptc_threads_await_death(const struct ptc_threads *t);
/* Those that live go on as they would have. */
void ptc_threads_let_go(struct ptc_threads *t);

/* What @tid does now is what it did before, but for being in a system call that is made again. */
bool ptc_thread_regs(pid_t tid, struct user_regs_struct *ret, bool *ret_in_call);

/* @tid has stopped with @status, of which nothing is wanted: it goes on as without us. */
void ptc_thread_resume(pid_t tid, int status);

#endif
