/* SPDX-License-Identifier: MIT */
#include "capture/step/fatal_signal.h"

#include <stdlib.h>
#include <sys/ptrace.h>

#include "base/err.h"
#include "capture/crash/handled_fault.h"
#include "capture/crash/state_channel.h"
#include "capture/step/tracer.h"

/*
 * Collects the threads of @pid. A thread in a system call cannot be asked for registers: those from
 * before the call are used.
 */
static size_t gather(const struct ptc_tracer *t, pid_t pid, struct ptc_state_thread *ret)
{
	size_t i, n = 0;

	for (i = 0; i < t->tasks.n; i++) {
		const struct ptc_task *k = t->tasks.items[i];
		const bool in_call = k->state == PTC_TASK_RUNNING;

		if (k->pid != pid || k->state == PTC_TASK_BORN || k->state == PTC_TASK_ENDING)
			continue;
		ret[n++] = (struct ptc_state_thread){ k->tid, in_call,
						      in_call ? &k->before : &k->regs };
	}
	return n;
}

/* @k is about to get a signal: saves the state of its process, or keeps it if @k handles a fault.
 */
static int save(struct ptc_tracer *t, const struct ptc_task *k, bool dies, struct ptc_err *err)
{
	struct ptc_state s = { .pid = k->pid, .tid = k->tid, .no_memory = t->no_memory };
	struct ptc_state_thread *threads;
	siginfo_t info;
	int rc = 0;

	if (ptrace(PTRACE_GETSIGINFO, k->tid, NULL, &info))
		return 0; /* killed in the meantime */
	if (!dies && !ptc_handled_is_fault(&info))
		return 0;
	threads = calloc(t->tasks.n, sizeof(*threads));
	if (!threads)
		return ptc_fail_mem(err);
	s.info = &info;
	s.time_ns = ptc_clock_ns(t->rec->clock);
	s.threads = threads;
	s.nthreads = gather(t, k->pid, threads);
	if (dies)
		rc = ptc_states_add(&t->states, &s, err);
	else
		ptc_handled_keep(&t->faults, &s);
	free(threads);
	t->crashes += dies && !rc;
	return rc;
}

int ptc_fatal_look(struct ptc_tracer *t, const struct ptc_task *k, struct ptc_err *err)
{
	bool wanted;
	int rc = 0;

	if (!k->inject)
		return 0;
	wanted = ptc_signals_have(t->on_signals, k->inject);
	if (t->states.fd >= 0 && ptc_state_is_fatal("/proc", k->tid, k->inject)) {
		rc = save(t, k, true, err);
		t->dying = k->tid;
		wanted = true;
	} else if (t->states.fd >= 0) {
		rc = save(t, k, false, err);
	}
	t->hold |= wanted && t->held_fd >= 0;
	return rc;
}

int ptc_fatal_exit(struct ptc_tracer *t, const struct ptc_task *k, struct ptc_err *err)
{
	const struct ptc_buf *records;
	unsigned long status;

	if (ptrace(PTRACE_GETEVENTMSG, k->tid, NULL, &status))
		return 0; /* killed in the meantime */
	records = ptc_handled_end(&t->faults, k->pid, (int)status);
	if (!records && k->tid == k->pid)
		ptc_handled_forget(&t->faults, k->pid);
	if (!records)
		return 0;
	t->handled++;
	return ptc_states_add_records(&t->states, records, err);
}
