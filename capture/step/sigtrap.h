/* SPDX-License-Identifier: MIT */
/*
 * SIGTRAP belongs to the program, and each step is one. The kernel forces it:
 * where it is blocked or ignored it unblocks it and takes the handler away
 * (force_sig_info_to_task, kernel/signal.c). So while a task is stepped the
 * kernel's mask never has SIGTRAP, and what the program believes is kept here.
 * System calls that read or write the mask are not stepped but run from their
 * entry to their exit (PTRACE_SYSCALL, whose stops are no signals), under the
 * mask the program believes in; a signal frame gets the bit written in.
 *
 * What cannot be had: SIG_IGN for SIGTRAP is gone from the kernel after the
 * next step, so it is not there any more when the task is left. A SIGTRAP sent to a whole
 * process is held for the thread the kernel chose, though another may take it.
 * A signalfd does not see one that is held. io_uring and the 32-bit system calls
 * of int 0x80 are not looked at.
 */
#ifndef PTC_CAPTURE_STEP_SIGTRAP_H
#define PTC_CAPTURE_STEP_SIGTRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct ptc_task;

/* One task's; zeroed at first. */
struct ptc_sigtrap {
	bool blocked;	/* by the program */
	bool call;	/* in a system call on the mask, or just before it */
	bool entered;	/* ... its entry stop was there */
	bool shown;	/* the kernel's mask may have SIGTRAP */
	bool sets;	/* rt_sigaction of SIGTRAP is under way: */
	bool ignores;	/* ... it will ignore it */
	bool held;	/* somebody sent it while it was blocked */
	bool requeued;	/* ... and we have sent it again, for the kernel to deliver */
	siginfo_t info; /* of the held one */
};

/* @k was stopped as it ran by itself, and will be stepped: take its mask over. Its mm is set. */
void ptc_sigtrap_attach(struct ptc_task *k);

/* @k, stopped, will run by itself: the kernel gets the program's mask, and what was held back. */
void ptc_sigtrap_detach(struct ptc_task *k);

/* @child of @k is born. */
void ptc_sigtrap_born(const struct ptc_task *k, struct ptc_task *child);

/*
 * How to resume @k, at k->ip with k->insn before it (or, if k->restart_ip is
 * set, a system call that will be made again), delivering @sig:
 * PTRACE_SINGLESTEP or PTRACE_SYSCALL.
 */
int ptc_sigtrap_request(struct ptc_task *k, int sig);

/* A PTRACE_SYSCALL stop. True: the entry, the call is still to be made; false: it has returned. */
bool ptc_sigtrap_at_entry(struct ptc_task *k);

/* A system call, number @nr, returned; k->restart_ip says if it is to be made again. */
void ptc_sigtrap_returned(struct ptc_task *k, uint64_t nr);

/* A signal handler was entered: its frame and its mask. */
void ptc_sigtrap_in_handler(struct ptc_task *k);

/* Stopped for a SIGTRAP that somebody sent. The signal to inject: SIGTRAP, or 0. */
int ptc_sigtrap_sent(struct ptc_task *k);

#endif
