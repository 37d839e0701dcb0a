/* SPDX-License-Identifier: MIT */
#include "capture/live/live_state.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"
#include "capture/crash/process_copy.h"
#include "capture/crash/thread_status.h"
#include "capture/live/thread_hold.h"
#include "capture/step/task.h"

enum {
	/* Limits of the time while the threads may stand still, and of the time afterwards. */
	STILL_S = 5,
	AFTER_S = 20,
};

static int create_limit(timer_t *ret, struct ptc_err *err)
{
	struct sigevent kill = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };

	if (timer_create(CLOCK_MONOTONIC, &kill, ret))
		return ptc_fail_sys(err, errno, "cannot create a timer");
	return 0;
}

static void set_limit(timer_t limit, time_t seconds)
{
	const struct itimerspec at = { .it_value = { .tv_sec = seconds } };

	(void)timer_settime(limit, 0, &at, NULL);
}

/* A thread in state D: the kernel tells its call without a stop. */
static void look_at_unstopped(struct ptc_copy_thread *k)
{
	struct ptc_thread_call c;

	if (!ptc_thread_status_call(k->tid, &c))
		return;
	k->in_call = true;
	k->regs.orig_rax = k->regs.rax = c.nr;
	k->regs.rdi = c.args[0];
	k->regs.rsi = c.args[1];
	k->regs.rdx = c.args[2];
	k->regs.r10 = c.args[3];
	k->regs.r8 = c.args[4];
	k->regs.r9 = c.args[5];
	k->regs.rsp = c.sp;
	k->regs.rip = c.ip - PTC_SYSCALL_LEN;
}

/* Collects the threads of @h that have not ended. Returns their number. */
static size_t collect_held(const struct ptc_hold *h, struct ptc_copy_thread *ret)
{
	size_t i, n = 0;

	for (i = 0; i < h->n; i++) {
		const struct ptc_held_thread *k = &h->items[i];

		if (k->ended)
			continue;
		ret[n] = (struct ptc_copy_thread){ .tid = k->tid,
						   .stopped = k->stopped,
						   .in_call = k->in_call,
						   .stop_signal = k->stop_signal,
						   .regs = k->regs };
		if (!k->stopped)
			look_at_unstopped(&ret[n]);
		n++;
	}
	return n;
}

/* Stops the process, and copies it. *@ret: its threads. Caller frees them. */
static int stop_and_copy(struct ptc_hold *h, pid_t pid, struct ptc_process_copy *c,
			 struct ptc_copy_thread **ret, struct ptc_err *err)
{
	int rc = ptc_hold_seize(h, pid, err);

	if (!rc)
		rc = ptc_hold_stop(h, err);
	if (rc)
		return rc;
	*ret = calloc(h->n + 1, sizeof(**ret));
	if (!*ret)
		return ptc_fail_mem(err);
	ptc_process_copy_take(c, *ret, collect_held(h, *ret));
	return 0;
}

/* Stops the process, copies it, lets it run on, and appends the records. */
static int put_process(struct ptc_buf *b, pid_t pid, struct ptc_process_copy *c, timer_t limit,
		       struct ptc_err *err)
{
	struct ptc_copy_thread *threads = NULL;
	struct ptc_hold h = { .n = 0 };
	struct ptc_copy_stop stop;
	int rc = stop_and_copy(&h, pid, c, &threads, err);

	stop.ns = ptc_hold_resume(&h);
	stop.restarted = h.restarted;
	set_limit(limit, AFTER_S);
	if (!rc)
		rc = ptc_process_copy_put(c, &stop, b, err);
	ptc_hold_release(&h);
	free(threads);
	return rc;
}

int ptc_live_put(struct ptc_buf *b, const struct ptc_live *l, struct ptc_err *err)
{
	const struct ptc_state s = {
		.pid = l->pid, .time_ns = l->time_ns, .no_memory = l->no_memory, .budget = l->budget
	};
	struct ptc_process_copy *c = NULL;
	timer_t limit;
	int rc;

	if (ptc_task_runs_32bit(l->pid))
		return ptc_fail(
			err, PTC_E_UNSUPPORTED,
			"process %d is a 32-bit process; only 64-bit processes are supported",
			(int)l->pid);
	rc = create_limit(&limit, err);
	if (rc)
		return rc;
	set_limit(limit, STILL_S);
	rc = ptc_process_copy_new(&s, &c, err);
	if (!rc)
		rc = put_process(b, l->pid, c, limit, err);
	ptc_process_copy_free(c);
	(void)timer_delete(limit);
	return rc;
}
