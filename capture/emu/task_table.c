/* SPDX-License-Identifier: MIT */
#include "capture/emu/task_table.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/vec.h"

void ptc_emu_process_free(struct ptc_emu_process *p)
{
	ptc_maps_release(&p->maps);
	ptc_queue_contexts_release(&p->known);
	if (p->pidfd >= 0)
		(void)close(p->pidfd);
	free(p);
}

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
	ptc_queue_contexts_release(&p->known);
	p->epoch = ++u->epochs;
	p->handled.fault.number = 0;
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
	ptc_emu_process_free(p);
}

bool ptc_emu_process_has_ended(const struct ptc_emu_process *p)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };

	if (p->pidfd < 0) /* the process may have ended before */
		return kill(p->pid, 0) && errno == ESRCH;
	return poll(&fd, 1, 0) == 1;
}

void ptc_emu_task_free(struct ptc_emu_task *k)
{
	ptc_buf_release(&k->dying);
	free(k);
}

void ptc_emu_task_place(struct ptc_emu_task *k, struct ptc_emu_cpu *c)
{
	if (k->cpu)
		k->cpu->tasks--;
	k->cpu = c;
	k->turns = 0;
	c->tasks++;
}

static struct ptc_emu_cpu *idlest(const struct ptc_emu_unit *u)
{
	struct ptc_emu_cpu *best = u->cpus;
	size_t i;

	for (i = 1; i < u->ncpus; i++)
		if (u->cpus[i].tasks < best->tasks)
			best = &u->cpus[i];
	return best;
}

struct ptc_emu_task *ptc_emu_unit_add_task(struct ptc_emu_unit *u, uint32_t slot)
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
	ptc_emu_task_place(k, idlest(u));
	u->tasks[u->ntasks++] = k;
	u->by_slot[slot] = k;
	return k;
}

/* Returns true if the same thread has another slot. An exec takes a new slot. */
static bool lives_on(const struct ptc_emu_unit *u, const struct ptc_emu_task *k)
{
	size_t i;

	for (i = 0; i < u->ntasks; i++)
		if (u->tasks[i] != k && u->tasks[i]->tid == k->tid)
			return true;
	return false;
}

void ptc_emu_unit_forget_task(struct ptc_emu_unit *u, size_t i)
{
	struct ptc_emu_task *k = u->tasks[i];
	struct ptc_emu_slot *slot = &u->sh->slots[k->slot];

	if (k->cpu->running == k)
		k->cpu->running = NULL;
	k->cpu->tasks--;
	if (k->proc && !--k->proc->tasks)
		forget_process(u, k->proc);
	if (u->stacks && !lives_on(u, k))
		ptc_lbr_forget(u->stacks, k->tid);
	u->by_slot[k->slot] = NULL;
	u->tasks[i] = u->tasks[--u->ntasks];
	atomic_store(&slot->tail, atomic_load(&slot->head));
	atomic_store(&slot->state, PTC_EMU_FREE);
	ptc_emu_task_free(k);
}
