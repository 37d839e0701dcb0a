/* SPDX-License-Identifier: MIT */
#include "capture/emu/unit.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "capture/emu/path.h"

enum { LOOK_NS = 100000000 }; /* without a bell: to show progress, and to see processes end */

static long futex(atomic_uint *word, int op, unsigned int val, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, val, timeout, NULL, 0);
}

int ptc_emu_unit_init(struct ptc_emu_unit *u, struct ptc_err *err)
{
	return ptc_emu_code_init(&u->code, u->sh) ? 0 : ptc_fail_mem(err);
}

static void process_free(struct ptc_emu_process *p)
{
	ptc_maps_release(&p->maps);
	ptc_known_release(&p->known);
	if (p->pidfd >= 0)
		(void)close(p->pidfd);
	free(p);
}

void ptc_emu_unit_release(struct ptc_emu_unit *u)
{
	size_t i;

	for (i = 0; i < u->ntasks; i++)
		free(u->tasks[i]);
	for (i = 0; i < u->nprocs; i++)
		process_free(u->procs[i]);
	free(u->tasks);
	free(u->procs);
	ptc_emu_code_release(&u->code);
	ptc_openfiles_close(&u->files);
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

/* --- the CPU --- */

void ptc_emu_unit_speak_of(struct ptc_emu_unit *u, const struct ptc_emu_task *k)
{
	u->rec->pid = k->proc->pid;
	u->rec->tid = k->tid;
}

void ptc_emu_unit_take(struct ptc_emu_unit *u)
{
	struct ptc_emu_task *k = u->on_cpu;

	if (!k)
		return;
	u->tsc = ptc_rdtsc();
	ptc_emu_path_preempt(u, k);
	ptc_emu_unit_speak_of(u, k);
	ptc_records_switch(u->rec, true);
	u->on_cpu = NULL;
}

void ptc_emu_unit_give(struct ptc_emu_unit *u, struct ptc_emu_task *k)
{
	ptc_emu_unit_take(u);
	ptc_emu_unit_speak_of(u, k);
	if (!k->seen)
		ptc_records_itrace_start(u->rec);
	k->seen = true;
	ptc_records_switch(u->rec, false);
	u->flow->tid = k->tid;
	u->on_cpu = k;
	u->tsc = ptc_rdtsc();
}

static void publish(struct ptc_emu_unit *u)
{
	struct ptc_softring *ring = u->rec->ring;
	uint64_t from, to;

	ptc_enc_flush(u->flow->enc);
	from = ptc_softring_aux_published(ring);
	to = ptc_softring_aux_head(ring);
	u->published = ptc_enc_pos(u->flow->enc);
	if (from == to)
		return;
	ptc_records_aux(u->rec, from, to, 0);
	ptc_softring_aux_publish(ring);
}

/* --- threads and processes --- */

struct ptc_emu_process *ptc_emu_unit_process(struct ptc_emu_unit *u, pid_t pid)
{
	size_t i;

	for (i = 0; i < u->nprocs; i++)
		if (u->procs[i]->pid == pid)
			return u->procs[i];
	return NULL;
}

struct ptc_emu_process *ptc_emu_unit_add_process(struct ptc_emu_unit *u, pid_t pid)
{
	struct ptc_emu_process *p = NULL;

	if (ptc_vec_reserve((void **)&u->procs, &u->procs_cap, u->nprocs + 1,
			    sizeof(struct ptc_emu_process *)))
		p = calloc(1, sizeof(*p));
	if (!p) {
		u->no_memory = true;
		return NULL;
	}
	p->pid = pid;
	p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	p->maps = (struct ptc_maps)PTC_MAPS_INIT;
	p->epoch = ++u->epochs;
	u->procs[u->nprocs++] = p;
	return p;
}

void ptc_emu_unit_renew_process(struct ptc_emu_unit *u, struct ptc_emu_process *p)
{
	ptc_maps_release(&p->maps);
	ptc_known_release(&p->known);
	p->epoch = ++u->epochs;
	if (p->pidfd >= 0)
		(void)close(p->pidfd);
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
}

static void forget_process(struct ptc_emu_unit *u, struct ptc_emu_process *p)
{
	size_t i;

	for (i = 0; u->procs[i] != p; i++)
		;
	u->procs[i] = u->procs[--u->nprocs];
	process_free(p);
}

static bool has_ended(const struct ptc_emu_process *p)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };

	if (p->pidfd < 0) /* it may have been gone before we heard of it */
		return kill(p->pid, 0) && errno == ESRCH;
	return poll(&fd, 1, 0) == 1;
}

static struct ptc_emu_task *add_task(struct ptc_emu_unit *u, uint32_t slot)
{
	struct ptc_emu_task *k = NULL;

	if (ptc_vec_reserve((void **)&u->tasks, &u->tasks_cap, u->ntasks + 1,
			    sizeof(struct ptc_emu_task *)))
		k = calloc(1, sizeof(*k));
	if (!k) {
		u->no_memory = true;
		return NULL;
	}
	k->slot = slot;
	k->until = UINT64_MAX;
	k->pos = atomic_load(&u->sh->slots[slot].tail);
	u->tasks[u->ntasks++] = k;
	u->by_slot[slot] = k;
	return k;
}

/* The slot is somebody else's from now on. */
static void forget_task(struct ptc_emu_unit *u, size_t i)
{
	struct ptc_emu_task *k = u->tasks[i];
	struct ptc_emu_slot *slot = &u->sh->slots[k->slot];

	if (u->on_cpu == k)
		u->on_cpu = NULL;
	if (k->proc && !--k->proc->tasks)
		forget_process(u, k->proc);
	u->by_slot[k->slot] = NULL;
	u->tasks[i] = u->tasks[--u->ntasks];
	atomic_store(&slot->tail, atomic_load(&slot->head));
	atomic_store(&slot->state, PTC_EMU_FREE);
	free(k);
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
	const uint64_t n = ptc_emu_path_read(u, k, ptc_emu_unit_head(u, k));

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
	atomic_store_explicit(&u->insns, u->flow->insns, memory_order_relaxed);
	atomic_store_explicit(&u->bytes, ptc_enc_pos(u->flow->enc), memory_order_relaxed);
}

/* Who has slot @i; NULL: nobody whose words are wanted. */
static struct ptc_emu_task *task_of(struct ptc_emu_unit *u, uint32_t i)
{
	if (!u->by_slot[i] && !u->ending && atomic_load(&u->sh->slots[i].state) != PTC_EMU_FREE)
		return add_task(u, i);
	return u->by_slot[i];
}

/* All slots once. True if anything was read. */
static bool pass(struct ptc_emu_unit *u)
{
	const uint32_t n = atomic_load(&u->sh->nslots);
	bool any = false;
	uint32_t i;

	for (i = 0; i < n && !u->no_memory; i++) {
		struct ptc_emu_task *k = task_of(u, i);

		if (k && !k->over)
			any |= read_task(u, k);
		if (ptc_enc_pos(u->flow->enc) - u->published >= u->watermark)
			publish(u);
	}
	tell_progress(u);
	return any;
}

/* Threads that told of their end, and those of processes that are gone. */
static void bury(struct ptc_emu_unit *u)
{
	size_t i = u->ntasks;

	while (i--) {
		struct ptc_emu_task *k = u->tasks[i];

		if (!k->over && k->proc && has_ended(k->proc)) {
			(void)read_task(u, k);
			ptc_emu_path_end(u, k);
		}
		if (k->over)
			forget_task(u, i);
	}
}

/* Somebody found no slot, and waits until it is clear that there is none. */
static void answer(struct ptc_emu_unit *u)
{
	const unsigned int asked = atomic_load(&u->sh->asked);

	if (asked == atomic_load(&u->sh->answered))
		return;
	bury(u);
	atomic_store(&u->sh->answered, asked);
	(void)futex(&u->sh->answered, FUTEX_WAKE, INT_MAX, NULL);
}

/* --- the whole --- */

static void wait_for_bell(struct ptc_emu_unit *u, unsigned int seen)
{
	static const struct timespec look = { .tv_nsec = LOOK_NS };

	atomic_store(&u->sh->sleeping, 1);
	(void)futex(&u->sh->bell, FUTEX_WAIT, seen, &look);
	atomic_store(&u->sh->sleeping, 0);
}

static bool goes_on(const struct ptc_emu_unit *u)
{
	return !u->no_memory && !u->rec->no_memory && !atomic_load(&u->sh->stop) &&
	       !atomic_load(&u->sh->full) && !atomic_load(u->want) && !atomic_load(u->gone);
}

/*
 * Everything is read up to here. Who has mapped code waits until that is read, or
 * until nothing is recorded any more: so the others have not run it before this.
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
}

/* What still runs is left; what has ended is told to the last word. */
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
	ptc_emu_unit_take(u);
	publish(u);
	tell_progress(u);
	ptc_softring_wake(u->rec->ring);
}

/* Recording is over, the command is not: its end is waited for, unless it is to be left. */
static void await_command(struct ptc_emu_unit *u)
{
	while (!atomic_load(u->gone) && atomic_load(u->want) < 2) {
		const unsigned int seen = atomic_load(&u->sh->bell);

		if (!atomic_load(u->gone) && atomic_load(u->want) < 2)
			wait_for_bell(u, seen);
	}
}

int ptc_emu_unit_run(struct ptc_emu_unit *u, struct ptc_err *err)
{
	ptc_enc_begin(u->flow->enc, ptc_rdtsc());
	while (goes_on(u)) {
		const unsigned int seen = atomic_load(&u->sh->bell);
		const bool any = pass(u);

		answer(u);
		if (any)
			continue;
		bury(u);
		publish(u);
		if (goes_on(u))
			wait_for_bell(u, seen);
	}
	end_all(u);
	await_command(u);
	if (u->no_memory || u->rec->no_memory)
		return ptc_fail_mem(err);
	return 0;
}
