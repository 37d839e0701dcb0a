/* SPDX-License-Identifier: MIT */
#include "capture/watch/threads.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/err.h"
#include "base/vec.h"
#include "capture/host/tasks.h"
#include "capture/step/task.h"
#include "capture/step/tracer.h"

enum { PATIENCE_S = 2, LOOK_AGAIN_NS = 10000000, DEAD_YET_NS = 100000 };

bool ptc_thread_regs(pid_t tid, struct user_regs_struct *ret, bool *ret_in_call)
{
	uint64_t again;

	if (ptrace(PTRACE_GETREGS, tid, NULL, ret))
		return false;
	again = ptc_task_restarts(ret);
	*ret_in_call = again != 0;
	if (again) {
		ret->rip = again;
		ret->rax = ret->orig_rax;
	}
	return true;
}

void ptc_thread_resume(pid_t tid, int status)
{
	const int sig = status >> 16 ? 0 : WSTOPSIG(status);

	if (ptc_stop_is_group(status))
		(void)ptrace(PTRACE_LISTEN, tid, NULL, NULL);
	else
		(void)ptrace(PTRACE_CONT, tid, NULL, (void *)(long)sig);
}

static int append_thread(struct ptc_threads *t, pid_t tid, struct ptc_err *err)
{
	if (!ptc_vec_reserve((void **)&t->items, &t->cap, t->n + 1, sizeof(*t->items)))
		return ptc_fail_mem(err);
	t->items[t->n++] = (struct ptc_thread){ .tid = tid };
	return 0;
}

/* Interrupts all other threads of @pid that this thread has seized; ptrace refuses the rest. */
static int interrupt_all(struct ptc_threads *t, pid_t pid, pid_t but, struct ptc_err *err)
{
	struct ptc_tids tids = PTC_TIDS_INIT;
	int rc = ptc_tasks_threads(&tids, "/proc", pid, err);
	size_t i;

	for (i = 0; !rc && i < tids.n; i++)
		if (tids.items[i] != but && !ptrace(PTRACE_INTERRUPT, tids.items[i], NULL, NULL))
			rc = append_thread(t, tids.items[i], err);
	ptc_tids_release(&tids);
	return rc;
}

static void remove_at(struct ptc_threads *t, size_t i)
{
	t->items[i] = t->items[--t->n];
}

/*
 * Handles a stop at the creation of a thread or process. It lies within the system call, whose
 * result is not there yet.
 */
static void note_birth(struct ptc_thread *k)
{
	const int event = k->status >> 16;

	if (event != PTRACE_EVENT_CLONE && event != PTRACE_EVENT_FORK &&
	    event != PTRACE_EVENT_VFORK)
		return;
	k->in_call = true;
	k->regs.rip -= PTC_SYSCALL_LEN;
	k->regs.rax = k->regs.orig_rax;
}

/* Checks whether @k has stopped. Returns false if it has ended. */
static bool check_thread_stop(struct ptc_thread *k)
{
	const pid_t got = waitpid(k->tid, &k->status, __WALL | WNOHANG);

	if (got == k->tid && WIFSTOPPED(k->status))
		k->stopped = ptc_thread_regs(k->tid, &k->regs, &k->in_call);
	if (k->stopped)
		note_birth(k);
	return !got || k->stopped;
}

/* Returns the number of threads that have not stopped yet. */
static size_t look_at_all(struct ptc_threads *t)
{
	size_t i = t->n, left = 0;

	while (i--) {
		struct ptc_thread *k = &t->items[i];

		if (!k->stopped && !check_thread_stop(k))
			remove_at(t, i);
		else
			left += !k->stopped;
	}
	return left;
}

int ptc_threads_stop(struct ptc_threads *t, pid_t pid, pid_t but, struct ptc_err *err)
{
	const struct timespec again = { .tv_nsec = LOOK_AGAIN_NS };
	struct timespec now, end;
	sigset_t chld;
	const int rc = interrupt_all(t, pid, but, err);

	(void)sigemptyset(&chld);
	(void)sigaddset(&chld, SIGCHLD);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += PATIENCE_S;
	while (look_at_all(t)) {
		(void)sigtimedwait(&chld, NULL, &again);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > end.tv_sec)
			break;
	}
	return rc;
}

/*
 * ptrace requests to a stopped thread succeed until a SIGKILL ends the stop (ptrace_check_attach).
 */
static bool any_is_held(const struct ptc_threads *t)
{
	struct user_regs_struct ignored;
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->items[i].stopped && !ptrace(PTRACE_GETREGS, t->items[i].tid, NULL, &ignored))
			return true;
	return false;
}

void ptc_threads_await_death(const struct ptc_threads *t)
{
	const struct timespec again = { .tv_nsec = DEAD_YET_NS };
	struct timespec now, end;

	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += PATIENCE_S;
	while (any_is_held(t)) {
		(void)nanosleep(&again, NULL);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > end.tv_sec)
			break;
	}
}

void ptc_threads_let_go(struct ptc_threads *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->items[i].stopped)
			ptc_thread_resume(t->items[i].tid, t->items[i].status);
	free(t->items);
	*t = (struct ptc_threads){ NULL, 0, 0 };
}
