/* SPDX-License-Identifier: MIT */
/* The end: detaches from every thread, which runs on as if untraced. */
#include <signal.h>
#include <sys/ptrace.h>

#include "base/monotonic.h"
#include "capture/step/debugreg.h"
#include "capture/step/sigtrap.h"
#include "capture/step/tracer.h"
#include "capture/step/trapflag.h"

/* Time to wait for threads that do not stop, once ptcap wants to end. */
static const uint64_t LEAVE_NS = 300000000;

static void detach(struct ptc_tracer *t, struct ptc_task *k)
{
	(void)ptc_debugreg_watch(k, 0);
	if (!k->loose) {
		ptc_affinity_unpin(&k->affinity, k->tid);
		ptc_sigtrap_detach(k);
		ptc_trapflag_settle(k);
	}
	(void)ptrace(PTRACE_DETACH, k->tid, NULL, (void *)(long)k->inject);
	k->reported = true; /* no EXIT record: it has not ended */
	ptc_tasks_remove(&t->tasks, k);
}

static void detach_ready(struct ptc_tracer *t)
{
	size_t i = t->tasks.n;

	while (i--)
		if (t->tasks.items[i]->state == PTC_TASK_READY)
			detach(t, t->tasks.items[i]);
}

void ptc_tracer_leave_unsteppable(struct ptc_tracer *t)
{
	size_t i = t->tasks.n;

	while (t->untraced && i--) {
		struct ptc_task *k = t->tasks.items[i];

		if (k->state != PTC_TASK_READY || !k->mm || !k->mm->leave)
			continue;
		if (t->on_cpu == k)
			ptc_tracer_take_cpu(t);
		detach(t, k);
	}
}

/*
 * Threads in a system call must stop first. A thread in vfork or in state D stops late or never.
 * Once ptcap wants to end, the wait for it is limited.
 */
void ptc_tracer_leave(struct ptc_tracer *t)
{
	struct ptc_err ignored;
	uint64_t since = 0;
	size_t i;
	int rc = 0;

	ptc_tracer_take_cpu(t);
	t->left = true;
	for (i = 0; t->command_gone && i < t->tasks.n; i++)
		t->left_behind += t->tasks.items[i]->state != PTC_TASK_ENDING;
	detach_ready(t);
	for (i = 0; i < t->tasks.n; i++)
		(void)ptrace(PTRACE_INTERRUPT, t->tasks.items[i]->tid, NULL, NULL);
	ptc_tracer_set_timer(t, true);
	while (t->tasks.n && rc >= 0 && (!since || ptc_monotonic_ns() - since < LEAVE_NS)) {
		if (!since && atomic_load(&t->shared->want) == PTC_WANT_LEAVE)
			since = ptc_monotonic_ns();
		rc = ptc_tracer_wait_any(t, &ignored);
		detach_ready(t);
	}
	ptc_tracer_set_timer(t, false);
}

void ptc_tracer_let_go(struct ptc_tracer *t)
{
	struct ptc_err ignored;

	while (t->tasks.n && ptc_tracer_wait_any(t, &ignored) >= 0)
		detach_ready(t);
}
