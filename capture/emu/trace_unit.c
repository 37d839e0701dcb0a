/* SPDX-License-Identifier: MIT */
#include "capture/emu/trace_unit.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/monotonic.h"
#include "capture/emu/live_guests.h"
#include "capture/emu/task_table.h"
#include "capture/emu/word_reader.h"

enum {
	/* longest wait without a bell: shows progress, and detects ended processes */
	LOOK_NS = 100000000,
	TURNS = 8, /* of a thread on one CPU, before it moves to the next */
	/* limit of the wait for threads to stand still, and how often to look */
	STILL_NS = 1000000000,
	STILL_LOOK_NS = 200000,
	HALTED_NS = 5000000, /* threads that move for so long may have been stopped by a signal */
};

static long futex(atomic_uint *word, int op, unsigned int val, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, val, timeout, NULL, 0);
}

int ptc_emu_unit_init(struct ptc_emu_unit *u, struct ptc_err *err)
{
	return ptc_emu_code_init(&u->code, u->sh) ? 0 : ptc_fail_mem(err);
}

void ptc_emu_unit_release(struct ptc_emu_unit *u)
{
	size_t i;

	for (i = 0; i < u->ntasks; i++)
		ptc_emu_task_free(u->tasks[i]);
	for (i = 0; i < u->nprocs; i++)
		ptc_emu_process_free(u->procs[i]);
	free(u->tasks);
	free(u->procs);
	ptc_emu_code_release(&u->code);
	ptc_mapped_release(&u->files);
	ptc_buf_release(&u->states);
	ptc_buf_release(&u->lives);
	u->tasks = NULL;
	u->procs = NULL;
	u->ntasks = 0;
	u->nprocs = 0;
}

void ptc_emu_unit_wake(struct ptc_emu_shared *sh)
{
	(void)atomic_fetch_add(&sh->bell, 1);
	(void)futex(&sh->bell, FUTEX_WAKE, 1, NULL);
}

/* --- CPUs --- */

void ptc_emu_unit_speak_of(const struct ptc_emu_task *k)
{
	k->cpu->rec.pid = k->proc->pid;
	k->cpu->rec.tid = k->tid;
}

static void switch_out_running_task(struct ptc_emu_unit *u, struct ptc_emu_cpu *c)
{
	struct ptc_emu_task *k = c->running;

	if (!k)
		return;
	u->tsc = ptc_rdtsc();
	ptc_emu_path_interrupt(u, k);
	ptc_emu_unit_speak_of(k);
	ptc_records_switch(&c->rec, true);
	c->running = NULL;
}

void ptc_emu_unit_take(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	if (k->cpu->running == k)
		switch_out_running_task(u, k->cpu);
}

void ptc_emu_unit_give(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	struct ptc_emu_cpu *c = k->cpu;

	switch_out_running_task(u, c);
	ptc_emu_unit_speak_of(k);
	if (!k->seen)
		ptc_records_itrace_start(&c->rec);
	k->seen = true;
	ptc_records_switch(&c->rec, false);
	ptc_flow_of(&c->flow, k->proc->pid, k->tid);
	c->running = k;
	u->tsc = ptc_rdtsc();
}

void ptc_emu_unit_interrupt_others(struct ptc_emu_unit *u, const struct ptc_emu_task *k)
{
	size_t i;

	u->tsc = ptc_rdtsc();
	for (i = 0; i < u->ncpus; i++) {
		struct ptc_emu_task *other = u->cpus[i].running;

		if (other && other != k && other->proc == k->proc && !other->busy)
			ptc_emu_path_interrupt(u, other);
	}
}

/*
 * Moves a thread to the next CPU from time to time, as a scheduler would, so that readers are
 * tested with that.
 */
static void maybe_move(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	const size_t next = (size_t)(k->cpu - u->cpus + 1) % u->ncpus;

	if (++k->turns < TURNS || u->ncpus == 1 || !k->proc)
		return;
	ptc_emu_unit_take(u, k);
	ptc_emu_task_place(k, &u->cpus[next]);
}

static void publish_all(struct ptc_emu_unit *u)
{
	size_t i;

	for (i = 0; i < u->ncpus; i++)
		ptc_emu_cpu_publish(&u->cpus[i]);
}

static bool out_of_memory(const struct ptc_emu_unit *u)
{
	bool any = u->no_memory;
	size_t i;

	for (i = 0; i < u->ncpus; i++)
		any |= u->cpus[i].rec.no_memory;
	return any;
}

/* --- reading --- */

uint64_t ptc_emu_unit_head(const struct ptc_emu_unit *u, const struct ptc_emu_task *k)
{
	const uint64_t head =
		atomic_load_explicit(&u->sh->slots[k->slot].head, memory_order_acquire);

	return head < k->until ? head : k->until;
}

static bool read_task(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	struct ptc_emu_slot *slot = &u->sh->slots[k->slot];
	const uint64_t n = k->held ? 0 : ptc_emu_path_read(u, k, ptc_emu_unit_head(u, k));

	if (!n)
		return false;
	k->pos += n;
	atomic_store(&slot->tail, k->pos);
	if (atomic_load(&slot->waiting)) {
		(void)atomic_fetch_add(&slot->room, 1);
		(void)futex(&slot->room, FUTEX_WAKE, 1, NULL);
	}
	return true;
}

void ptc_emu_unit_catch_up(struct ptc_emu_unit *u, const struct ptc_emu_task *k)
{
	size_t i;

	for (i = 0; i < u->ntasks; i++)
		if (u->tasks[i]->proc == k->proc && !u->tasks[i]->busy && !u->tasks[i]->over)
			(void)read_task(u, u->tasks[i]);
}

static void tell_progress(struct ptc_emu_unit *u)
{
	uint64_t insns = 0, bytes = 0;
	size_t i;

	for (i = 0; i < u->ncpus; i++) {
		insns += u->cpus[i].flow.insns;
		bytes += ptc_enc_pos(u->cpus[i].enc);
	}
	atomic_store_explicit(&u->insns, insns, memory_order_relaxed);
	atomic_store_explicit(&u->bytes, bytes, memory_order_relaxed);
}

/* Returns the task of slot @i; NULL: none, or its words are not wanted. */
static struct ptc_emu_task *task_of(struct ptc_emu_unit *u, uint32_t i)
{
	if (!u->by_slot[i] && !u->ending && atomic_load(&u->sh->slots[i].state) != PTC_EMU_FREE)
		return ptc_emu_unit_add_task(u, i);
	return u->by_slot[i];
}

/* Returns the oldest unread slot of process @pid that was taken before @born. NULL: none. */
static struct ptc_emu_task *first_unread(struct ptc_emu_unit *u, pid_t pid, uint64_t born)
{
	const uint32_t n = atomic_load(&u->sh->nslots);
	struct ptc_emu_task *ret = NULL;
	uint32_t i;

	for (i = 0; i < n && !u->no_memory; i++) {
		const struct ptc_emu_slot *slot = &u->sh->slots[i];
		struct ptc_emu_task *k = task_of(u, i);

		if (!k || k->proc || k->busy || k->over || ptc_emu_unit_head(u, k) == k->pos ||
		    atomic_load(&slot->pid) != pid || atomic_load(&slot->born) >= born)
			continue;
		born = atomic_load(&slot->born);
		ret = k;
	}
	return ret;
}

/* Reads the slots of process @pid that are unread and were taken before @born. */
static void meet_older(struct ptc_emu_unit *u, pid_t pid, uint64_t born)
{
	struct ptc_emu_task *other;

	do
		other = first_unread(u, pid, born);
	while (other && read_task(u, other) && other->proc);
}

void ptc_emu_unit_meet(struct ptc_emu_unit *u, const struct ptc_emu_task *k, pid_t pid)
{
	meet_older(u, pid, atomic_load(&u->sh->slots[k->slot].born));
}

void ptc_emu_unit_read_process(struct ptc_emu_unit *u, const struct ptc_emu_task *k)
{
	if (!k->proc)
		return;
	meet_older(u, k->proc->pid, UINT64_MAX);
	ptc_emu_unit_catch_up(u, k);
}

/* Reads all slots once. Returns true if any word was read. */
static bool pass(struct ptc_emu_unit *u)
{
	const uint32_t n = atomic_load(&u->sh->nslots);
	bool any = false;
	uint32_t i;

	for (i = 0; i < n && !u->no_memory; i++) {
		struct ptc_emu_task *k = task_of(u, i);

		if (!k || k->over || !read_task(u, k))
			continue;
		any = true;
		if (ptc_emu_cpu_unpublished(k->cpu) >= u->watermark)
			ptc_emu_cpu_publish(k->cpu);
		maybe_move(u, k);
	}
	tell_progress(u);
	return any;
}

/* Forgets the threads that have reported their end, and those of ended processes. */
static void bury(struct ptc_emu_unit *u)
{
	size_t i = u->ntasks;

	while (i--) {
		struct ptc_emu_task *k = u->tasks[i];

		if (!k->over && k->proc && ptc_emu_process_has_ended(k->proc)) {
			(void)read_task(u, k);
			ptc_emu_path_end(u, k);
		}
		if (k->over)
			ptc_emu_unit_forget_task(u, i);
	}
}

/* Frees unused slots for a thread that found none. The thread waits for the answer. */
static void answer(struct ptc_emu_unit *u)
{
	const unsigned int asked = atomic_load(&u->sh->asked);

	if (asked == atomic_load(&u->sh->answered))
		return;
	bury(u);
	atomic_store(&u->sh->answered, asked);
	(void)futex(&u->sh->answered, FUTEX_WAKE, INT_MAX, NULL);
}

/*
 * Makes the user of a new program the owner of the segment. ptcap's user, who created the segment,
 * keeps access.
 */
static void grant(struct ptc_emu_unit *u)
{
	const unsigned int asked = atomic_load(&u->sh->grants_asked);
	struct shmid_ds ds;

	if (asked == atomic_load(&u->sh->grants_given))
		return;
	if (!shmctl(u->shm_id, IPC_STAT, &ds)) {
		ds.shm_perm.uid = atomic_load(&u->sh->grant_uid);
		if (ds.shm_perm.uid == PTC_EMU_NOBODY)
			ds.shm_perm.uid = ds.shm_perm.cuid;
		(void)shmctl(u->shm_id, IPC_SET, &ds);
	}
	atomic_store(&u->sh->grants_given, asked);
	(void)futex(&u->sh->grants_given, FUTEX_WAKE, INT_MAX, NULL);
}

/* --- main loop --- */

static void wait_for_bell(struct ptc_emu_unit *u, unsigned int seen, long ns)
{
	const struct timespec look = { .tv_nsec = ns };

	atomic_store(&u->sh->sleeping, 1);
	(void)futex(&u->sh->bell, FUTEX_WAIT, seen, &look);
	atomic_store(&u->sh->sleeping, 0);
}

static bool unit_may_continue(const struct ptc_emu_unit *u)
{
	return !out_of_memory(u) && !atomic_load(&u->sh->stop) && !atomic_load(&u->sh->full) &&
	       !atomic_load(u->want) && !atomic_load(u->gone);
}

/*
 * Defines the end of the recording: all words up to here are read. A thread that has mapped code
 * waits until that is read, or until recording has stopped. So no other thread has run that code
 * before this point.
 */
static void draw_line(struct ptc_emu_unit *u)
{
	const uint32_t n = atomic_load(&u->sh->nslots);
	uint32_t i;

	for (i = 0; i < n && !u->no_memory; i++) {
		struct ptc_emu_task *k = task_of(u, i);

		if (k)
			k->until = ptc_emu_unit_head(u, k);
	}
	u->ending = true;
	atomic_store(&u->sh->stop, 1);
	(void)futex(&u->sh->stop, FUTEX_WAKE, INT_MAX, NULL);
	(void)futex(&u->sh->answered, FUTEX_WAKE, INT_MAX, NULL);
	(void)futex(&u->sh->grants_given, FUTEX_WAKE, INT_MAX, NULL);
}

/* Ends the recording. Running threads are left. The words of ended threads are read completely. */
static void end_all(struct ptc_emu_unit *u)
{
	const bool gone = atomic_load(u->gone);
	size_t i;

	draw_line(u);
	while (pass(u) && !u->no_memory)
		;
	bury(u);
	for (i = 0; i < u->ntasks; i++) {
		struct ptc_emu_slot *slot = &u->sh->slots[u->tasks[i]->slot];

		u->left_behind += gone;
		(void)atomic_fetch_add(&slot->room, 1);
		(void)futex(&slot->room, FUTEX_WAKE, 1, NULL);
	}
	for (i = 0; i < u->ncpus; i++)
		switch_out_running_task(u, &u->cpus[i]);
	publish_all(u);
	tell_progress(u);
	for (i = 0; i < u->ncpus; i++)
		ptc_softring_wake(u->cpus[i].ring);
}

/* Recording has stopped, but the command runs on: waits for its end, unless it is to be left. */
static void await_command(struct ptc_emu_unit *u)
{
	while (!atomic_load(u->gone) && atomic_load(u->want) < 2) {
		const unsigned int seen = atomic_load(&u->sh->bell);

		if (!atomic_load(u->gone) && atomic_load(u->want) < 2)
			wait_for_bell(u, seen, LOOK_NS);
	}
}

/* --- snapshots --- */

/*
 * Ends the trace of the CPU as if it were disabled, without a context switch. It continues with a
 * PSB.
 */
static void disable(struct ptc_emu_unit *u, struct ptc_emu_cpu *c)
{
	if (c->running) {
		ptc_emu_unit_speak_of(c->running);
		ptc_emu_path_interrupt(u, c->running);
	}
	ptc_emu_cpu_publish(c);
	ptc_enc_psb(c->enc);
}

/* A snapshot was taken: the threads that waited for it continue. */
static void release_held(struct ptc_emu_unit *u)
{
	size_t i;

	for (i = 0; i < u->ntasks; i++)
		u->tasks[i]->held = false;
	u->hold = false;
}

/*
 * Saves the states of all processes. Their threads stand still for that, and all words up to there
 * are converted. Threads that do not stop in time have no registers.
 */
static void save_lives(struct ptc_emu_unit *u)
{
	const uint64_t begin = ptc_monotonic_ns();
	uint64_t waited;

	if (!u->sh->saves_stacks)
		return;
	ptc_emu_live_stop(u->sh);
	for (;;) {
		const unsigned int seen = atomic_load(&u->sh->bell);

		(void)pass(u);
		waited = ptc_monotonic_ns() - begin;
		if (ptc_emu_live_is_still(u, waited > HALTED_NS) || out_of_memory(u) ||
		    atomic_load(u->gone) || waited > STILL_NS)
			break;
		wait_for_bell(u, seen, STILL_LOOK_NS);
	}
	(void)pass(u);
	ptc_emu_live_save(u, begin);
	ptc_emu_live_resume(u->sh);
}

/* Converts all words written so far, then pauses until the session resumes. */
static void stand_still(struct ptc_emu_unit *u)
{
	size_t i;

	(void)pass(u);
	save_lives(u);
	u->tsc = ptc_rdtsc();
	for (i = 0; i < u->ncpus; i++)
		disable(u, &u->cpus[i]);
	if (u->hold) /* first: the session checks for requests once it sees the pause */
		(void)eventfd_write(u->held_fd, 1);
	atomic_store(u->pause, PTC_EMU_PAUSED);
	ptc_softring_wake(u->cpus[0].ring);
	for (;;) {
		const unsigned int seen = atomic_load(&u->sh->bell);

		/* The end of the command must wait: the session may be reading. */
		if (atomic_load(u->pause) != PTC_EMU_PAUSED || atomic_load(u->want))
			break;
		wait_for_bell(u, seen, LOOK_NS);
	}
	release_held(u);
	u->tsc = ptc_rdtsc();
}

static bool should_pause(const struct ptc_emu_unit *u)
{
	return u->pause && (u->hold || atomic_load(u->pause) == PTC_EMU_ASKED);
}

int ptc_emu_unit_run(struct ptc_emu_unit *u, struct ptc_err *err)
{
	size_t i;

	for (i = 0; i < u->ncpus; i++)
		ptc_enc_begin(u->cpus[i].enc, ptc_rdtsc());
	while (unit_may_continue(u)) {
		const unsigned int seen = atomic_load(&u->sh->bell);
		bool any;

		if (should_pause(u)) {
			stand_still(u);
			continue;
		}
		any = pass(u);
		answer(u);
		grant(u);
		if (any)
			continue;
		bury(u);
		if (!u->pause) /* snapshot mode publishes only in a pause */
			publish_all(u);
		if (unit_may_continue(u))
			wait_for_bell(u, seen, LOOK_NS);
	}
	if (atomic_load(u->want) && !atomic_load(u->gone) && !out_of_memory(u))
		save_lives(u); /* for a last snapshot */
	end_all(u);
	await_command(u);
	if (out_of_memory(u))
		return ptc_fail_mem(err);
	return 0;
}
