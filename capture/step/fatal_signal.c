/* SPDX-License-Identifier: MIT */
#include "capture/step/fatal_signal.h"

#include <stdlib.h>
#include <sys/ptrace.h>

#include "base/err.h"
#include "capture/crash/handled_fault.h"
#include "capture/crash/process_copy.h"
#include "capture/crash/state_channel.h"
#include "capture/step/live_threads.h"
#include "capture/step/tracer.h"

/* Collects the threads of @pid in @copies, for which @ret has pointers. Returns their number. */
static size_t gather(const struct ptc_tracer *t, pid_t pid, struct ptc_copy_thread *copies,
		     struct ptc_state_thread *ret)
{
	const size_t n = ptc_live_threads_collect(t, pid, copies);
	size_t i;

	for (i = 0; i < n; i++)
		ret[i] = (struct ptc_state_thread){ copies[i].tid, copies[i].in_call,
						    &copies[i].regs };
	return n;
}

/* @k is about to get a signal: saves the state of its process, or keeps it if @k handles a fault.
 */
static int save(struct ptc_tracer *t, const struct ptc_task *k, bool dies, struct ptc_err *err)
{
	struct ptc_state s = { .pid = k->pid, .tid = k->tid, .no_memory = t->no_memory };
	struct ptc_copy_thread *copies;
	struct ptc_state_thread *threads;
	siginfo_t info;
	int rc = 0;

	if (ptrace(PTRACE_GETSIGINFO, k->tid, NULL, &info))
		return 0; /* killed in the meantime */
	if (!dies && !ptc_handled_is_fault(&info))
		return 0;
	threads = calloc(t->tasks.n, sizeof(*threads));
	copies = calloc(t->tasks.n, sizeof(*copies));
	if (!threads || !copies) {
		free(threads);
		free(copies);
		return ptc_fail_mem(err);
	}
	s.info = &info;
	s.time_ns = ptc_clock_ns(t->rec->clock);
	s.threads = threads;
	s.nthreads = gather(t, k->pid, copies, threads);
	if (dies)
		rc = ptc_states_add(&t->states, &s, err);
	else
		ptc_handled_keep(&t->faults, &s);
	free(threads);
	free(copies);
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
