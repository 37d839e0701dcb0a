/* SPDX-License-Identifier: MIT */
#include "capture/step/live_threads.h"

#include <stdlib.h>
#include <sys/ptrace.h>

#include "base/err.h"
#include "base/monotonic.h"
#include "capture/crash/process_copy.h"
#include "capture/step/tracer.h"

/*
 * Sets the registers of a thread at a stop. If the kernel is going to restart a system call, they
 * become those of the start of the call.
 */
static void set_stopped(struct ptc_copy_thread *c, const struct user_regs_struct *regs)
{
	const uint64_t again = ptc_task_restarts(regs);

	c->stopped = true;
	c->regs = *regs;
	c->in_call = again != 0;
	if (again) {
		c->regs.rip = again;
		c->regs.rax = regs->orig_rax;
	}
}

/* Sets the registers of a thread that runs or sleeps in the system call that @regs began. */
static void set_in_call(struct ptc_copy_thread *c, const struct user_regs_struct *regs)
{
	set_stopped(c, regs);
	c->regs.orig_rax = c->regs.rax;
	c->in_call = true;
}

/* Sets the registers of a thread that is stopped inside a system call. */
static void set_mid_call(struct ptc_copy_thread *c, const struct user_regs_struct *regs)
{
	set_stopped(c, regs);
	c->regs.rip = regs->rip - PTC_SYSCALL_LEN;
	c->regs.rax = regs->orig_rax;
	c->in_call = true;
}

/* Returns false if the registers of @k are not known. */
static bool look_at_task(const struct ptc_task *k, struct ptc_copy_thread *ret)
{
	struct user_regs_struct regs;

	*ret = (struct ptc_copy_thread){ .tid = k->tid };
	switch (k->state) {
	case PTC_TASK_READY:
		if (k->mid_call)
			set_mid_call(ret, &k->regs);
		else
			set_stopped(ret, &k->regs);
		return true;
	case PTC_TASK_LISTENING:
		set_stopped(ret, &k->regs);
		ret->stop_signal = k->stop_signal;
		return true;
	case PTC_TASK_RUNNING:
	case PTC_TASK_BORN:
		/* Its stop may not have been handled yet. A thread in a system call has no stop. */
		if (!ptrace(PTRACE_GETREGS, k->tid, NULL, &regs))
			set_stopped(ret, &regs);
		else if (ptc_stop_enters_kernel(&k->insn) || ptc_task_restarts(&k->before))
			set_in_call(ret, &k->before);
		else
			set_stopped(ret, &k->before);
		return ret->regs.rip != 0;
	case PTC_TASK_ENDING:
		break;
	}
	return false;
}

size_t ptc_live_threads_collect(const struct ptc_tracer *t, pid_t pid, struct ptc_copy_thread *ret)
{
	size_t i, n = 0;

	for (i = 0; i < t->tasks.n; i++)
		if (t->tasks.items[i]->pid == pid && look_at_task(t->tasks.items[i], &ret[n]))
			n++;
	return n;
}

/* Returns true if @i is the first task of its process in the list, and the process lives on. */
static bool is_wanted(const struct ptc_tracer *t, size_t i)
{
	const struct ptc_task *k = t->tasks.items[i];
	const struct ptc_task *dying = t->dying ? ptc_tasks_find(&t->tasks, t->dying) : NULL;
	size_t j;

	if (!k->mm || (dying && dying->pid == k->pid))
		return false;
	for (j = 0; j < i; j++)
		if (t->tasks.items[j]->pid == k->pid && t->tasks.items[j]->mm)
			return false;
	return true;
}

/* Appends the state of process @pid with its @n threads. A process that was killed is left out. */
static int put_process(const struct ptc_tracer *t, pid_t pid, const struct ptc_copy_thread *threads,
		       size_t n, struct ptc_copy_budget *budget, struct ptc_buf *b,
		       struct ptc_err *err)
{
	const struct ptc_state s = { .pid = pid,
				     .time_ns = ptc_clock_ns(t->rec->clock),
				     .no_memory = t->no_memory,
				     .budget = budget };
	struct ptc_copy_stop stop = { .ns = ptc_monotonic_ns() };
	struct ptc_process_copy *c = NULL;
	int rc = ptc_process_copy_new(&s, &c, err);

	if (rc)
		return rc == PTC_E_NO_MEMORY ? rc : 0;
	ptc_process_copy_take(c, threads, n);
	stop.ns = ptc_monotonic_ns() - stop.ns;
	rc = ptc_process_copy_put(c, &stop, b, err);
	ptc_process_copy_free(c);
	t->shared->lives += !rc;
	return rc;
}

int ptc_live_threads_save(struct ptc_tracer *t, struct ptc_err *err)
{
	struct ptc_copy_thread *threads = calloc(t->tasks.n + 1, sizeof(*threads));
	struct ptc_copy_budget budget = { .left = PTC_COPY_MAX };
	struct ptc_buf b = PTC_BUF_INIT;
	size_t i, n;
	int rc = 0;

	if (!threads)
		return ptc_fail_mem(err);
	t->shared->lives = 0;
	for (i = 0; i < t->tasks.n && budget.processes < PTC_COPY_PROCESSES; i++)
		budget.processes += is_wanted(t, i);
	for (i = 0; !rc && i < t->tasks.n && t->shared->lives < PTC_COPY_PROCESSES; i++) {
		if (!is_wanted(t, i))
			continue;
		n = ptc_live_threads_collect(t, t->tasks.items[i]->pid, threads);
		if (n)
			rc = put_process(t, t->tasks.items[i]->pid, threads, n, &budget, &b, err);
	}
	if (!rc)
		rc = ptc_states_replace(&t->lives, &b, err);
	ptc_buf_release(&b);
	free(threads);
	return rc;
}
