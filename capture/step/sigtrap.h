/* SPDX-License-Identifier: MIT */
/*
 * SIGTRAP belongs to the program, but each step also raises it. The kernel forces that signal: if
 * it is blocked or ignored, the kernel unblocks it and resets its handler (force_sig_info_to_task,
 * kernel/signal.c). So while a task is stepped the kernel's mask never contains SIGTRAP, and the
 * program's view of the mask is kept here. System calls that read or write the mask are not
 * stepped. They run from entry to exit (PTRACE_SYSCALL, whose stops are no signals) with the
 * program's mask. In a signal frame the SIGTRAP bit is added.
 *
 * Limits: SIG_IGN for SIGTRAP is lost in the kernel after the next step, and stays lost when the
 * task is left. A SIGTRAP sent to a whole process is held for the thread that the kernel chose,
 * although another thread could take it. A signalfd does not see a held SIGTRAP. io_uring and the
 * 32-bit system calls of int 0x80 are not handled.
 */
#ifndef PTC_CAPTURE_STEP_SIGTRAP_H
#define PTC_CAPTURE_STEP_SIGTRAP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct ptc_task;

/* State of one task; starts zeroed. */
struct ptc_sigtrap {
	bool blocked;	/* the program blocks SIGTRAP */
	bool call;	/* in a system call that uses the mask, or just before it */
	bool entered;	/* such a call: its entry stop has occurred */
	bool shown;	/* the kernel's mask may have SIGTRAP */
	bool sets;	/* a rt_sigaction of SIGTRAP is in progress */
	bool ignores;	/* with sets: it will ignore SIGTRAP */
	bool held;	/* a SIGTRAP was sent while it was blocked */
	bool requeued;	/* with held: we have sent it again, for the kernel to deliver */
	siginfo_t info; /* of the held SIGTRAP */
};

/*
 * @k was stopped while running freely, and will be stepped: takes over its mask. k->mm must be set.
 */
void ptc_sigtrap_attach(struct ptc_task *k);

/* @k is stopped and will run freely: gives the kernel the program's mask and a held SIGTRAP. */
void ptc_sigtrap_detach(struct ptc_task *k);

/* @k has created @child. */
void ptc_sigtrap_born(const struct ptc_task *k, struct ptc_task *child);

/*
 * Returns how to resume @k with signal @sig: PTRACE_SINGLESTEP or PTRACE_SYSCALL. k->insn is next
 * at k->ip. If k->restart_ip is set, a system call will be restarted instead.
 */
int ptc_sigtrap_request(struct ptc_task *k, int sig);

/* Handles a PTRACE_SYSCALL stop. Returns true at the entry of a call, false at its exit. */
bool ptc_sigtrap_at_entry(struct ptc_task *k);

/* System call @nr has returned. k->restart_ip tells whether it will be restarted. */
void ptc_sigtrap_returned(struct ptc_task *k, uint64_t nr);

/* A signal handler was entered: corrects the mask in its frame, and reads the new mask. */
void ptc_sigtrap_in_handler(struct ptc_task *k);

/*
 * Handles a stop for a SIGTRAP that was sent to the task. Returns the signal to inject: SIGTRAP or
 * 0.
 */
int ptc_sigtrap_sent(struct ptc_task *k);

#endif
