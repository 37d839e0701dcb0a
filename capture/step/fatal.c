/* SPDX-License-Identifier: MIT */
#include "capture/step/fatal.h"

#include <stdlib.h>
#include <sys/ptrace.h>

#include "base/err.h"
#include "base/io.h"
#include "capture/state.h"
#include "capture/step/tracer.h"

/* Threads that are in a system call still are asked nothing: what is known is what they called. */
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

static int save(struct ptc_tracer *t, const struct ptc_state *s, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_state_put(&b, s);
	rc = ptc_buf_failed(&b) ?
		     ptc_fail_mem(err) :
		     ptc_write_all(t->state_fd, b.bytes, b.len, "the state of a crash", err);
	ptc_buf_release(&b);
	return rc;
}

int ptc_fatal_look(struct ptc_tracer *t, const struct ptc_task *k, struct ptc_err *err)
{
	struct ptc_state s = { .pid = k->pid, .tid = k->tid };
	struct ptc_state_thread *threads;
	siginfo_t info;
	int rc;

	if (t->state_fd < 0 || !k->inject || !ptc_state_is_fatal("/proc", k->tid, k->inject) ||
	    ptrace(PTRACE_GETSIGINFO, k->tid, NULL, &info))
		return 0;
	threads = calloc(t->tasks.n, sizeof(*threads));
	if (!threads)
		return ptc_fail_mem(err);
	s.info = &info;
	s.time_ns = ptc_clock_ns(t->rec->clock);
	s.threads = threads;
	s.nthreads = gather(t, k->pid, threads);
	rc = save(t, &s, err);
	free(threads);
	t->crashes += !rc;
	return rc;
}
