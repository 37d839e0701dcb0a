/* SPDX-License-Identifier: MIT */
/* Waits for tasks, and passes each stop to the unit that handles it. */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/err.h"
#include "capture/step/debugreg.h"
#include "capture/step/full_speed.h"
#include "capture/step/refuse_ptrace.h"
#include "capture/step/trapflag.h"

/* How often to check for sleep while other tasks are ready. */
enum { LOOK_AGAIN_NS = 1000000 };

static void remove_traced_task(struct ptc_tracer *t, struct ptc_task *k)
{
	if (t->on_cpu == k)
		ptc_tracer_take_cpu(t);
	if (k->mm && !k->reported) {
		ptc_tracer_speak_of(t, k);
		ptc_records_exit(t->rec, k->pid);
	}
	if (t->stacks)
		ptc_lbr_forget(t->stacks, k->tid);
	ptc_tasks_remove(&t->tasks, k);
}

/* A thread that is not the leader has made an exec: it continues with the leader's tid. */
static struct ptc_task *rename_execer(struct ptc_tracer *t, struct ptc_task *leader)
{
	struct ptc_task *k;
	unsigned long former;

	if (ptrace(PTRACE_GETEVENTMSG, leader->tid, NULL, &former) || (pid_t)former == leader->tid)
		return leader;
	k = ptc_tasks_find(&t->tasks, (pid_t)former);
	if (!k)
		return leader;
	if (t->on_cpu == k)
		ptc_tracer_take_cpu(t);
	if (t->stacks)
		ptc_lbr_forget(t->stacks, k->tid);
	k->tid = leader->tid;
	k->seen = false;
	leader->reported = true; /* the process continues: no EXIT record */
	remove_traced_task(t, leader);
	return k;
}

/*
 * A string instruction stops after each iteration, and no branch can occur in between. After the
 * first iteration it runs freely up to the next instruction. A signal or a fault may stop it
 * earlier.
 */
static bool runs_on(struct ptc_task *k)
{
	return k->rounds && k->insn.rep && k->regs.rip == k->ip && !k->own_tf &&
	       ptc_debugreg_watch(k, k->ip + k->insn.len);
}

int ptc_tracer_resume(struct ptc_task *k, int sig, struct ptc_err *err)
{
	int how = ptc_sigtrap_request(k, sig);

	if (how == PTRACE_SINGLESTEP && !sig && runs_on(k))
		how = PTRACE_CONT;
	if (how != PTRACE_SINGLESTEP)
		ptc_trapflag_settle(k);
	k->state = PTC_TASK_RUNNING;
	if (!ptrace((enum __ptrace_request)how, k->tid, NULL, (void *)(long)sig) || errno == ESRCH)
		return 0; /* the task is gone: a wait reports how */
	return ptc_fail_sys(err, errno, "cannot step thread %d", (int)k->tid);
}

int ptc_tracer_read_regs(struct ptc_task *k, struct ptc_err *err)
{
	if (!ptrace(PTRACE_GETREGS, k->tid, NULL, &k->regs) || errno == ESRCH)
		return 0;
	return ptc_fail_sys(err, errno, "cannot read registers of thread %d", (int)k->tid);
}

/* Handles the first stop of a new task: no instruction has run yet. */
static void take_birth(struct ptc_tracer *t, struct ptc_task *k, int status)
{
	k->state = PTC_TASK_READY;
	k->ip = k->regs.rip;
	if (!(status >> 16)) /* it already has a signal */
		k->inject = WSTOPSIG(status);
	if (t->zone.outside)
		k->loose = true;
	else
		ptc_affinity_pin(&k->affinity, k->tid, t->cpu);
	if (k->mm)
		ptc_trapflag_settle(k);
}

/* Resumes a task whose pending trap will stop it again at once. */
static int resume_to_trap(struct ptc_task *k, struct ptc_err *err)
{
	if (!k->loose)
		return ptc_tracer_resume(k, 0, err);
	k->state = PTC_TASK_RUNNING;
	(void)ptrace(PTRACE_CONT, k->tid, NULL, NULL);
	return 0;
}

/* Handles a status change of @tid. */
static int handle_wait_status(struct ptc_tracer *t, pid_t tid, int status, struct ptc_err *err)
{
	struct ptc_task *k = ptc_tasks_find(&t->tasks, tid);
	int rc;

	if (!WIFSTOPPED(status)) {
		if (k)
			remove_traced_task(t, k);
		if (tid == t->command) {
			t->command_gone = true;
			t->status = status;
		}
		return 0;
	}
	if (!k) { /* a new task whose stop precedes its parent's event */
		k = ptc_tasks_add(&t->tasks, tid);
		if (!k)
			return ptc_fail_mem(err);
	}
	if (status >> 16 == PTRACE_EVENT_EXEC)
		k = rename_execer(t, k);
	if (ptc_stop_is_group(status) && !t->left && !(k->mm && k->mm->leave)) {
		k->state = PTC_TASK_LISTENING;
		k->stop_signal = WSTOPSIG(status);
		(void)ptrace(PTRACE_GETREGS, tid, NULL, &k->regs); /* for a saved state */
		(void)ptrace(PTRACE_LISTEN, tid, NULL, NULL);
		return 0;
	}
	rc = ptc_tracer_read_regs(k, err);
	if (rc)
		return rc;
	ptc_refuse_return(k);
	if (k->state == PTC_TASK_BORN) {
		take_birth(t, k, status);
		return 0;
	}
	if (ptc_stop_trap_is_due(k, status))
		return resume_to_trap(k, err);
	k->state = PTC_TASK_READY;
	if (!k->loose)
		(void)ptc_debugreg_watch(k, 0);
	ptc_tracer_speak_of(t, k);
	rc = k->loose ? ptc_zone_take(t, k, status, err) : ptc_stop_take(t, k, status, err);
	if (!rc && k->state == PTC_TASK_ENDING) {
		ptc_tracer_speak_of(t, k);
		ptc_records_exit(t->rec, k->pid);
		k->reported = true;
		if (t->on_cpu == k)
			ptc_tracer_take_cpu(t);
		(void)ptrace(PTRACE_CONT, tid, NULL, NULL); /* continue from the exit stop */
	}
	return rc;
}

int ptc_tracer_wait_any(struct ptc_tracer *t, struct ptc_err *err)
{
	int status;
	const pid_t got = waitpid(-1, &status, __WALL | __WNOTHREAD);
	int rc;

	if (got < 0)
		return errno == EINTR ? 0 : ptc_fail_sys(err, errno, "cannot wait for the command");
	rc = handle_wait_status(t, got, status, err);
	return rc ? rc : 1;
}

void ptc_tracer_set_timer(struct ptc_tracer *t, bool on)
{
	const struct itimerspec look = { .it_interval = { .tv_nsec = LOOK_AGAIN_NS },
					 .it_value = { .tv_nsec = LOOK_AGAIN_NS } };
	const struct itimerspec off = { .it_value = { 0, 0 } };

	if (t->timer_on == on || !t->have_timer)
		return;
	(void)timer_settime(t->timer, 0, on ? &look : &off, NULL);
	t->timer_on = on;
}
