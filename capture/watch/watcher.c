/* SPDX-License-Identifier: MIT */
#include "capture/watch/watcher.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/crash/handled_fault.h"
#include "capture/host/tasks.h"
#include "capture/step/task.h"
#include "capture/watch/threads.h"

/* Without PTRACE_O_EXITKILL: the targets survive the watcher's death. */
static const unsigned long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;

/* --- seizing --- */

/* Returns 1 if @tid was seized, 0 if it is already seized by us or is gone. */
static int seize_one(pid_t tid, struct ptc_err *err)
{
	int sys;

	if (!ptrace(PTRACE_SEIZE, tid, NULL, (void *)options))
		return 1;
	sys = errno;
	if (sys == ESRCH || ptc_task_tracer(tid) == getpid())
		return 0;
	return ptc_task_refuse(tid, sys, err);
}

/*
 * Repeats until no new thread is found. Threads created by a seized thread are seized
 * automatically. Others may still appear until all threads are seized.
 */
static int seize_process(pid_t pid, struct ptc_err *err)
{
	int rc, fresh;
	size_t i;

	do {
		struct ptc_tids tids = PTC_TIDS_INIT;

		fresh = 0;
		rc = ptc_tasks_threads(&tids, "/proc", pid, err);
		for (i = 0; rc >= 0 && i < tids.n; i++) {
			rc = seize_one(tids.items[i], err);
			fresh += rc > 0;
		}
		ptc_tids_release(&tids);
	} while (rc >= 0 && fresh);
	return rc < 0 ? rc : 0;
}

int ptc_watcher_seize(const struct ptc_watcher *w, pid_t command, struct ptc_err *err)
{
	const struct ptc_record_opts *o = w->opts;
	int rc = command ? seize_one(command, err) : 0;
	size_t i;

	for (i = 0; rc >= 0 && i < o->target.npids; i++)
		rc = seize_process(o->target.pids[i], err);
	for (i = 0; rc >= 0 && i < o->target.ntids; i++)
		rc = seize_one(o->target.tids[i], err);
	return rc < 0 ? rc : 0;
}

/* --- a signal --- */

static bool is_watch_wanted(const struct ptc_watcher *w)
{
	return atomic_load(&w->shared->want) == PTC_WANT_TRACE;
}

/* Returns no time if the clock is not the kernel's. */
static uint64_t now(const struct ptc_watcher *w)
{
	return w->clock->kernel ? ptc_clock_ns(w->clock) : PTC_STATE_NO_TIME;
}

/* Saves the state of thread s->tid, and of the threads in @others that have stopped. */
static int put_state(const struct ptc_watcher *w, struct ptc_state *s,
		     const struct ptc_threads *others, struct ptc_err *err)
{
	struct ptc_state_thread *threads = calloc(others->n + 1, sizeof(*threads));
	struct user_regs_struct regs;
	bool in_call;
	size_t i;
	int rc = 0;

	if (!threads)
		return ptc_fail_mem(err);
	if (ptc_thread_regs(s->tid, &regs, &in_call)) {
		threads[s->nthreads++] = (struct ptc_state_thread){ s->tid, in_call, &regs };
		for (i = 0; i < others->n; i++) {
			const struct ptc_thread *k = &others->items[i];

			if (k->stopped)
				threads[s->nthreads++] =
					(struct ptc_state_thread){ k->tid, k->in_call, &k->regs };
		}
		s->threads = threads;
		rc = ptc_states_add(w->states, s, err);
		w->shared->crashes += !rc;
	}
	free(threads);
	return rc;
}

/* Requests a snapshot while the thread is held. */
static void tell_held(void *ctx)
{
	const struct ptc_watcher *w = ctx;

	(void)eventfd_write(w->held_fd, 1);
}

static void hold(const struct ptc_watcher *w)
{
	struct ptc_watcher told = *w;

	if (w->held_fd >= 0 && is_watch_wanted(w))
		ptc_step_process_stand_still(w->shared, tell_held, &told);
}

/*
 * Handles a signal that will kill @tid's process. Stops the whole process, saves its state, then
 * delivers the signal. The other threads stay stopped until the process is dead.
 */
static int witness(const struct ptc_watcher *w, pid_t tid, int status, struct ptc_err *err)
{
	struct ptc_state s = { .pid = ptc_task_process(tid),
			       .tid = tid,
			       .time_ns = now(w),
			       .no_memory = w->opts->snapshot.no_memory };
	struct ptc_threads others = { .n = 0 };
	siginfo_t info;
	int rc;

	if (s.pid < 0 || ptrace(PTRACE_GETSIGINFO, tid, NULL, &info))
		return 0; /* killed in the meantime */
	s.info = &info;
	rc = ptc_threads_stop(&others, s.pid, tid, err);
	if (!rc)
		rc = put_state(w, &s, &others, err);
	if (!rc)
		hold(w);
	ptc_thread_resume(tid, status);
	ptc_threads_await_death(&others);
	ptc_threads_let_go(&others);
	return rc;
}

/*
 * @tid is about to handle a signal. If that is a fault, keeps the state of the thread, and watches
 * for its exit, and for its exec. Threads without a fault exit without a stop.
 */
static void keep_handled(const struct ptc_watcher *w, struct ptc_handled *h, pid_t tid)
{
	struct ptc_state_thread thread = { .tid = tid };
	struct ptc_state s = { .pid = ptc_task_process(tid),
			       .tid = tid,
			       .time_ns = now(w),
			       .threads = &thread,
			       .nthreads = 1,
			       .no_memory = w->opts->snapshot.no_memory };
	struct user_regs_struct regs;
	siginfo_t info;

	if (s.pid < 0 || ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) ||
	    !ptc_handled_is_fault(&info) || !ptc_thread_regs(tid, &regs, &thread.in_call) ||
	    ptrace(PTRACE_SETOPTIONS, tid, NULL,
		   (void *)(options | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC)))
		return;
	s.info = &info;
	thread.regs = &regs;
	ptc_handled_keep(h, &s);
}

/*
 * @tid, which handled a fault, is about to exit. The end of the process is seen by others after
 * this stop only, so the state is complete by then.
 */
static int on_exit_stop(const struct ptc_watcher *w, struct ptc_handled *h, pid_t tid,
			struct ptc_err *err)
{
	const struct ptc_buf *records;
	unsigned long status;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &status))
		return 0; /* killed in the meantime */
	records = ptc_handled_end(h, ptc_task_process(tid), (int)status);
	if (!records)
		return 0;
	w->shared->handled++;
	return ptc_states_add_records(w->states, records, err);
}

/* Handles the stop of @tid with @status, and lets it continue. */
static int on_stop(const struct ptc_watcher *w, struct ptc_handled *h, pid_t tid, int status,
		   struct ptc_err *err)
{
	const int sig = status >> 16 ? 0 : WSTOPSIG(status);
	int rc = 0;

	if (sig && w->states->fd >= 0 && ptc_state_is_fatal("/proc", tid, sig))
		return witness(w, tid, status, err);
	if (sig && ptc_signals_have(w->opts->snapshot.on_signals, sig))
		hold(w);
	if (sig && w->states->fd >= 0)
		keep_handled(w, h, tid);
	if (status >> 16 == PTRACE_EVENT_EXEC)
		ptc_handled_forget(h, ptc_task_process(tid));
	if (status >> 16 == PTRACE_EVENT_EXIT)
		rc = on_exit_stop(w, h, tid, err);
	ptc_thread_resume(tid, status);
	return rc;
}

int ptc_watcher_run(const struct ptc_watcher *w, struct ptc_err *err)
{
	struct ptc_handled handled = { .items = { { 0 } } };
	int rc = 0;

	while (!rc && is_watch_wanted(w)) {
		int status;
		const pid_t got = waitpid(-1, &status, __WALL);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) /* no thread is left */
			break;
		if (!WIFSTOPPED(status)) {
			ptc_handled_forget(&handled, got);
			continue;
		}
		rc = on_stop(w, &handled, got, status, err);
	}
	ptc_handled_release(&handled);
	return rc;
}
