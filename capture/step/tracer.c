/* SPDX-License-Identifier: MIT */
/*
 * Schedules the tasks. All tasks and the tracer share one CPU, and one task runs at a time: the
 * trace is that of a CPU, with context switches. A task keeps the CPU until its quantum is used up
 * or it sleeps in a system call. When a sleeping task stops, it is ready again. stops.c handles the
 * meaning of stops.
 */
#include "capture/step/tracer.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/step/full_speed.h"
#include "capture/step/live_threads.h"
#include "capture/step/refuse_ptrace.h"
#include "capture/step/target_maps.h"

void ptc_tracer_release(struct ptc_tracer *t)
{
	ptc_tasks_release(&t->tasks);
	ptc_mapped_release(&t->files);
	if (t->have_timer)
		(void)timer_delete(t->timer);
	t->have_timer = false;
}

void ptc_tracer_publish(struct ptc_tracer *t)
{
	struct ptc_softring *ring = t->rec->ring;
	uint64_t from, to;

	ptc_enc_flush(t->flow->enc);
	from = ptc_softring_aux_published(ring);
	to = ptc_softring_aux_head(ring);
	t->published = ptc_enc_pos(t->flow->enc);
	if (from == to)
		return;
	ptc_records_aux(t->rec, from, to, 0);
	ptc_softring_aux_publish(ring);
}

static bool can_run(const struct ptc_task *k)
{
	return k->state == PTC_TASK_READY && k->mm;
}

/*
 * Returns a ready task that does not have the CPU: the next one in the list after the current task.
 * NULL: none.
 */
static struct ptc_task *another(const struct ptc_tracer *t)
{
	size_t start = 0, i;

	for (i = 0; i < t->tasks.n; i++)
		if (t->tasks.items[i] == t->on_cpu)
			start = i + 1;
	for (i = 0; i < t->tasks.n; i++) {
		struct ptc_task *k = t->tasks.items[(start + i) % t->tasks.n];

		if (k != t->on_cpu && can_run(k))
			return k;
	}
	return NULL;
}

/* Returns the task that is about to die, once; or NULL. */
static struct ptc_task *take_dying(struct ptc_tracer *t)
{
	struct ptc_task *k = t->dying ? ptc_tasks_find(&t->tasks, t->dying) : NULL;

	t->dying = 0;
	return k && can_run(k) ? k : NULL;
}

/* Selects the next task; NULL: all sleep. */
static struct ptc_task *pick(struct ptc_tracer *t)
{
	struct ptc_task *k = take_dying(t);

	if (!k && t->on_cpu && can_run(t->on_cpu) && t->flow->insns < t->quantum_end)
		return t->on_cpu;
	if (!k)
		k = another(t);
	if (!k && t->on_cpu && can_run(t->on_cpu))
		k = t->on_cpu;
	if (k)
		ptc_tracer_give_cpu(t, k);
	return k;
}

/* --- one step --- */

static bool is_trace_wanted(const struct ptc_tracer *t)
{
	return atomic_load_explicit(&t->shared->want, memory_order_relaxed) == PTC_WANT_TRACE;
}

/* Returns true if a snapshot is requested. */
static bool pause_is_asked(const struct ptc_tracer *t)
{
	return atomic_load_explicit(&t->shared->pause, memory_order_relaxed) == PTC_STEP_ASKED;
}

/*
 * Waits until the task on the CPU stops. If it sleeps in a system call while another task is ready,
 * the wait ends, and the other task gets the CPU. The wait also ends if it sleeps and a snapshot is
 * requested, since the call may take forever.
 */
static int wait_step(struct ptc_tracer *t, struct ptc_err *err)
{
	struct ptc_task *k = t->on_cpu;
	int rc = 1;

	while (rc >= 0 && t->on_cpu == k && k->state == PTC_TASK_RUNNING && is_trace_wanted(t)) {
		const bool may_yield = (ptc_stop_enters_kernel(&k->insn) || k->restart_ip) &&
				       another(t);

		if (!rc && (may_yield || pause_is_asked(t)) && ptc_task_sleeps(k->tid))
			break;
		ptc_tracer_set_timer(t, may_yield);
		rc = ptc_tracer_wait_any(t, err);
	}
	ptc_tracer_set_timer(t, false);
	return rc < 0 ? rc : 0;
}

static int step_thread(struct ptc_tracer *t, struct ptc_task *k, struct ptc_err *err)
{
	const int sig = k->inject;
	int rc;

	if (k->loose)
		ptc_zone_tighten(t, k);
	rc = k->exec_pending || k->mid_call ? 0 : ptc_program_fetch(t, k, err);
	if (rc)
		return rc;
	if (!k->mid_call)
		k->before = k->regs;
	if (!k->exec_pending && !k->mid_call && ptc_stop_enters_kernel(&k->insn) &&
	    ptc_affinity_visible(k->before.rax))
		ptc_affinity_show(&k->affinity, k->tid);
	if (!k->exec_pending && !k->mid_call)
		ptc_refuse_call(k);
	k->mid_call = false;
	k->at_place = false;
	k->injected = sig != 0;
	k->inject = 0;
	k->tsc = ptc_rdtsc();
	rc = ptc_tracer_resume(k, sig, err);
	return rc ? rc : wait_step(t, err);
}

/* --- begin and end --- */

static void make_timer(struct ptc_tracer *t)
{
	struct sigevent sev = { .sigev_notify = SIGEV_THREAD_ID,
				.sigev_signo = ptc_step_process_kick() };

	sev._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	t->have_timer = !timer_create(CLOCK_MONOTONIC, &sev, &t->timer);
}

/* Prepares a launched command in its exec stop. */
static int begin_command(struct ptc_tracer *t, pid_t pid, struct ptc_err *err)
{
	struct ptc_task *k = ptc_tasks_add(&t->tasks, pid);
	int rc;

	if (!k)
		return ptc_fail_mem(err);
	k->mm = ptc_mm_new();
	if (!k->mm)
		return ptc_fail_mem(err);
	rc = ptc_tracer_read_regs(k, err);
	if (rc)
		return rc;
	ptc_affinity_pin(&k->affinity, pid, t->cpu);
	ptc_sigtrap_attach(k);
	k->state = PTC_TASK_READY;
	k->exec_pending = true;
	ptc_tracer_give_cpu(t, k);
	return ptc_program_begin(t, k, err);
}

/* Prepares attached tasks: writes their names, and once per process its mappings. */
static int begin_attached(struct ptc_tracer *t, struct ptc_err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < t->tasks.n; i++) {
		struct ptc_task *k = t->tasks.items[i];

		ptc_affinity_pin(&k->affinity, k->tid, t->cpu);
		ptc_tracer_speak_of(t, k);
		rc = ptc_program_renamed(t, k, err);
		if (!rc && !k->mm->maps.n)
			rc = ptc_program_update_maps(t, k, err);
	}
	return rc;
}

static int begin_tracing(struct ptc_tracer *t, pid_t pid, struct ptc_err *err)
{
	t->command = pid;
	make_timer(t);
	ptc_affinity_pin(&t->affinity, 0, t->cpu);
	ptc_enc_begin(t->flow->enc, ptc_rdtsc());
	return pid ? begin_command(t, pid, err) : begin_attached(t, err);
}

/* Waits for the command's end after stepping has stopped. It is our child. */
static void await_command(struct ptc_tracer *t)
{
	while (t->command && !t->command_gone && atomic_load(&t->shared->want) != PTC_WANT_LEAVE)
		t->command_gone = waitpid(t->command, &t->status, __WALL) == t->command;
}

static void tell_progress(struct ptc_tracer *t)
{
	atomic_store_explicit(&t->shared->insns, t->flow->insns, memory_order_relaxed);
	atomic_store_explicit(&t->shared->bytes, ptc_enc_pos(t->flow->enc), memory_order_relaxed);
}

static bool at_limit(struct ptc_tracer *t)
{
	t->limited = t->zone.over || (t->max_insns && t->flow->insns >= t->max_insns);
	return t->limited;
}

/* Outside the zone: all ready tasks run at full speed. */
static int run_outside(struct ptc_tracer *t, struct ptc_err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < t->tasks.n; i++)
		if (can_run(t->tasks.items[i]))
			rc = ptc_zone_run(t, t->tasks.items[i], err);
	return rc ? rc : ptc_tracer_wait_any(t, err);
}

/* Executes an instruction of a task, or handles another event. */
static int one_turn(struct ptc_tracer *t, struct ptc_err *err)
{
	struct ptc_task *k;
	int rc;

	if (t->zone.outside)
		return run_outside(t, err);
	k = pick(t);
	if (!k)
		return ptc_tracer_wait_any(t, err);
	if (ptc_crossings_reached(&t->crossings, k)) {
		t->hold = true;
		return 0;
	}
	rc = step_thread(t, k, err);
	if (!rc && t->on_cpu && ptc_zone_left(&t->zone, t->on_cpu))
		ptc_tracer_take_cpu(t);
	return rc;
}

static void tell_paused(void *ctx)
{
	ptc_softring_wake(ctx);
}

int ptc_tracer_keep_code(struct ptc_tracer *t, struct ptc_err *err)
{
	struct ptc_buf b = PTC_BUF_INIT;
	int rc;

	ptc_mapped_put_code(&t->files, &b);
	rc = ptc_states_replace(&t->code, &b, err);
	ptc_buf_release(&b);
	return rc;
}

/* Pauses for a snapshot: no task has the CPU, and the trace continues with a PSB. */
static int stand_still(struct ptc_tracer *t, struct ptc_err *err)
{
	int rc;

	ptc_tracer_take_cpu(t);
	ptc_tracer_publish(t);
	ptc_enc_psb(t->flow->enc);
	tell_progress(t);
	rc = t->series ? ptc_tracer_keep_code(t, err) : 0;
	if (!rc && t->lives.fd >= 0)
		rc = ptc_live_threads_save(t, err);
	if (rc)
		return rc;
	if (t->hold) /* first: the session checks for requests once it sees the pause */
		(void)eventfd_write(t->held_fd, 1);
	t->hold = false;
	ptc_step_process_stand_still(t->shared, tell_paused, t->rec->ring);
	return 0;
}

int ptc_tracer_run(struct ptc_tracer *t, pid_t pid, struct ptc_err *err)
{
	int rc = begin_tracing(t, pid, err);

	/* A command that cannot be stepped any more is still waited for. */
	while (!rc && !t->command_gone && (t->tasks.n || (pid && t->untraced)) &&
	       is_trace_wanted(t) && !at_limit(t)) {
		if (t->hold || pause_is_asked(t))
			rc = stand_still(t, err);
		if (!rc)
			rc = one_turn(t, err);
		if (rc > 0)
			rc = 0;
		ptc_tracer_leave_unsteppable(t);
		tell_progress(t);
		if (!rc && ptc_enc_pos(t->flow->enc) - t->published >= t->watermark)
			ptc_tracer_publish(t);
		if (!rc && t->rec->no_memory)
			rc = ptc_fail_mem(err);
	}
	ptc_tracer_leave(t);
	ptc_tracer_publish(t);
	tell_progress(t);
	ptc_softring_wake(t->rec->ring);
	if (t->truth)
		ptc_truth_wake(t->truth);
	ptc_affinity_unpin(&t->affinity, 0);
	await_command(t);
	t->left = !t->command_gone;
	return rc;
}
