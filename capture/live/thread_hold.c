/* SPDX-License-Identifier: MIT */
#include "capture/live/thread_hold.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/monotonic.h"
#include "base/vec.h"
#include "capture/host/tasks.h"
#include "capture/step/task.h"

enum {
	LOOK_AGAIN_NS = 500000,
	/* include/linux/errno.h: restart the call, or return EINTR if a handler runs */
	ERESTARTNOHAND = 514,
	NR_EPOLL_PWAIT2 = 441, /* missing in older headers */
};

#define PATIENCE_NS UINT64_C(2000000000)

/* --- seizing --- */

static struct ptc_held_thread *find_held(const struct ptc_hold *h, pid_t tid)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->items[i].tid == tid)
			return &h->items[i];
	return NULL;
}

static bool is_ended(pid_t tid)
{
	const char letter = ptc_tasks_state("/proc", tid);

	return !letter || letter == 'Z' || letter == 'X';
}

/* Returns 1 if @tid was seized, 0 if it has ended, or an error. */
static int seize_thread(struct ptc_hold *h, pid_t tid, struct ptc_err *err)
{
	int sys;

	if (!ptc_vec_reserve((void **)&h->items, &h->cap, h->n + 1, sizeof(*h->items)))
		return ptc_fail_mem(err);
	/* Without options: the kernel reports no other stops, and the thread survives our death. */
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL)) {
		sys = errno;
		if (sys == ESRCH || is_ended(tid))
			return 0;
		return ptc_task_refuse(tid, sys, err);
	}
	h->items[h->n++] = (struct ptc_held_thread){ .tid = tid };
	return 1;
}

/* Seizes the threads that are not seized yet. Returns their number, or an error. */
static int seize_new(struct ptc_hold *h, struct ptc_err *err)
{
	struct ptc_tids tids = PTC_TIDS_INIT;
	int rc = ptc_tasks_threads(&tids, "/proc", h->pid, err), fresh = 0;
	size_t i;

	for (i = 0; rc >= 0 && i < tids.n; i++) {
		if (find_held(h, tids.items[i]))
			continue;
		rc = seize_thread(h, tids.items[i], err);
		fresh += rc > 0;
	}
	ptc_tids_release(&tids);
	return rc < 0 ? rc : fresh;
}

int ptc_hold_seize(struct ptc_hold *h, pid_t pid, struct ptc_err *err)
{
	int rc;

	h->pid = pid;
	h->since_ns = ptc_monotonic_ns(); /* from now on, a signal stops the thread that gets it */
	do
		rc = seize_new(h, err);
	while (rc > 0);
	if (!rc && !h->n)
		return ptc_fail(err, PTC_E_NOT_EXIST, "process %d has ended", (int)pid);
	return rc;
}

/* --- stopping --- */

/*
 * Returns true if a stop ended a system call with EINTR, and the call can be repeated without harm.
 * No signal is the cause (signal(7), "Interruption of system calls ... by stop signals").
 */
static bool is_interrupted(const struct user_regs_struct *r)
{
	if ((long long)r->rax != -EINTR)
		return false;
	switch (r->orig_rax) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case NR_EPOLL_PWAIT2:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_rt_sigtimedwait:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case SYS_read: /* sockets with SO_RCVTIMEO or SO_SNDTIMEO: nothing was transferred */
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
		return true;
	default:
		return false;
	}
}

static void read_registers(struct ptc_held_thread *k)
{
	uint64_t again;

	k->stopped = !ptrace(PTRACE_GETREGS, k->tid, NULL, &k->regs);
	if (!k->stopped)
		return;
	again = ptc_task_restarts(&k->regs);
	if (!again && !k->stop_signal && is_interrupted(&k->regs)) {
		k->restarts = true;
		again = k->regs.rip - PTC_SYSCALL_LEN;
	}
	k->in_call = again != 0;
	if (again) {
		k->regs.rip = again;
		k->regs.rax = k->regs.orig_rax;
	}
}

/* Handles a stop with @status, as waitid reports it: a signal, and an event from bit 8 on. */
static void note_stop(struct ptc_held_thread *k, int status)
{
	const int sig = status & 0x7f, event = status >> 8;

	if (event == PTRACE_EVENT_STOP && sig != SIGTRAP)
		k->stop_signal = sig;
	else if (!event)
		k->signal = sig;
	read_registers(k);
}

/* Checks whether @k has stopped or ended. WNOWAIT: the kernel keeps the stop and its signal. */
static bool has_stopped(struct ptc_held_thread *k)
{
	const int how = WEXITED | WSTOPPED | WNOHANG | __WALL;
	siginfo_t si = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)k->tid, &si, how | WNOWAIT)) {
		k->ended = errno != EINTR;
		return k->ended;
	}
	if (!si.si_pid)
		return false;
	if (si.si_code == CLD_TRAPPED || si.si_code == CLD_STOPPED) {
		note_stop(k, si.si_status);
		return true;
	}
	k->ended = true;
	(void)waitid(P_PID, (id_t)k->tid, &si, how); /* releases the dead thread */
	return true;
}

/*
 * Waits until @k has stopped. A thread in state D does not stop. Waiting for it would only hold the
 * other threads.
 */
static void await_stop(struct ptc_held_thread *k, uint64_t until_ns)
{
	const struct timespec again = { .tv_nsec = LOOK_AGAIN_NS };
	sigset_t chld;

	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	while (!has_stopped(k)) {
		if (sigtimedwait(&chld, NULL, &again) >= 0)
			continue;
		if (ptc_monotonic_ns() > until_ns || ptc_tasks_state("/proc", k->tid) == 'D') {
			(void)has_stopped(k);
			break;
		}
	}
}

int ptc_hold_stop(struct ptc_hold *h, struct ptc_err *err)
{
	const uint64_t until = ptc_monotonic_ns() + PATIENCE_NS;
	sigset_t chld, old;
	size_t done = 0, i;
	int rc;

	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, &chld, &old); /* for sigtimedwait */
	do {
		for (i = done; i < h->n; i++)
			(void)ptrace(PTRACE_INTERRUPT, h->items[i].tid, NULL, NULL);
		for (; done < h->n; done++)
			await_stop(&h->items[done], until);
		rc = seize_new(h, err);
	} while (rc > 0);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}

/* --- running on --- */

static void let_go(struct ptc_hold *h, struct ptc_held_thread *k)
{
	/*
	 * The kernel acts on this value when the thread leaves the stop: it returns EINTR if a
	 * handler of the program runs, and otherwise restarts the call.
	 */
	if (k->restarts && !ptrace(PTRACE_POKEUSER, k->tid, offsetof(struct user, regs.rax),
				   (void *)(long)-ERESTARTNOHAND))
		h->restarted++;
	(void)ptrace(PTRACE_DETACH, k->tid, NULL, (void *)(long)k->signal);
}

uint64_t ptc_hold_resume(struct ptc_hold *h)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->items[i].stopped)
			let_go(h, &h->items[i]);
	return h->since_ns ? ptc_monotonic_ns() - h->since_ns : 0;
}

void ptc_hold_release(struct ptc_hold *h)
{
	free(h->items);
	h->items = NULL;
	h->n = h->cap = 0;
}
