/* SPDX-License-Identifier: MIT */
#include "capture/emu/live_guests.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "capture/crash/process_copy.h"
#include "capture/emu/death_state.h"
#include "capture/emu/guest_registers.h"
#include "capture/emu/task_table.h"
#include "capture/host/tasks.h"

void ptc_emu_live_stop(struct ptc_emu_shared *sh)
{
	atomic_store(&sh->still, 1);
}

void ptc_emu_live_resume(struct ptc_emu_shared *sh)
{
	atomic_store(&sh->still, 0);
	(void)syscall(SYS_futex, &sh->still, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Returns true if @k is a thread whose registers the plugin shows. */
static bool is_shown(const struct ptc_emu_unit *u, const struct ptc_emu_task *k)
{
	return k->proc && !k->over && !k->proc->dies && atomic_load(&u->sh->slots[k->slot].env);
}

static bool is_still(const struct ptc_emu_unit *u, const struct ptc_emu_task *k)
{
	const struct ptc_emu_slot *slot = &u->sh->slots[k->slot];

	return atomic_load(&slot->parked) || atomic_load(&slot->call);
}

/* Returns true if a signal or a tracer has stopped @k: it does not run to the next block. */
static bool is_halted(const struct ptc_emu_task *k)
{
	const char letter = ptc_tasks_state("/proc", k->tid);

	return letter == 'T' || letter == 't';
}

bool ptc_emu_live_is_still(const struct ptc_emu_unit *u, bool looks)
{
	size_t i;

	for (i = 0; i < u->ntasks; i++) {
		const struct ptc_emu_task *k = u->tasks[i];

		if (is_shown(u, k) && !is_still(u, k) && !ptc_emu_process_has_ended(k->proc) &&
		    !(looks && is_halted(k)))
			return false;
	}
	return true;
}

/* Sets the registers of @k. If it does not stand still, they are not known. */
static void look_at_task(const struct ptc_emu_unit *u, const struct ptc_emu_task *k,
			 struct ptc_copy_thread *ret)
{
	const struct ptc_emu_slot *slot = &u->sh->slots[k->slot];
	const struct ptc_emu_env e = { .pid = k->proc->pid,
				       .addr = atomic_load(&slot->env),
				       .rip = atomic_load(&slot->env_rip),
				       .parked = atomic_load(&slot->parked),
				       .in_call = atomic_load(&slot->call) != 0 };
	struct ptc_emu_regs regs;

	*ret = (struct ptc_copy_thread){ .tid = k->tid };
	/* QEMU stops itself with SIGSTOP for each signal of job control */
	if (ptc_tasks_state("/proc", k->tid) == 'T')
		ret->stop_signal = SIGSTOP;
	if (!is_still(u, k) || !ptc_emu_env_registers(&e, &regs))
		return;
	ret->stopped = true;
	ret->in_call = regs.in_call;
	ret->regs = ptc_emu_kernel_regs(&regs, NULL);
}

/* A process that executes a program is between two programs: its memory may be that of both. */
static bool executes(const struct ptc_emu_unit *u, const struct ptc_emu_task *k)
{
	const unsigned int call = atomic_load(&u->sh->slots[k->slot].call);

	return call == SYS_execve + 1 || call == SYS_execveat + 1;
}

/*
 * Collects the threads of @p. Returns their number; 0: its state cannot be saved. *@ret_slot: the
 * slot of one of them.
 */
static size_t collect_guests(const struct ptc_emu_unit *u, const struct ptc_emu_process *p,
			     struct ptc_copy_thread *ret, uint32_t *ret_slot)
{
	size_t i, n = 0, stopped = 0;

	for (i = 0; i < u->ntasks; i++) {
		const struct ptc_emu_task *k = u->tasks[i];

		if (k->proc != p || !is_shown(u, k))
			continue;
		if (executes(u, k))
			return 0;
		look_at_task(u, k, &ret[n]);
		stopped += ret[n].stopped || is_halted(k);
		n++;
		*ret_slot = k->slot;
	}
	return stopped ? n : 0;
}

/* Appends the state of @p with its @n threads. */
static int put_guest(struct ptc_emu_unit *u, const struct ptc_emu_process *p,
		     const struct ptc_copy_thread *threads, size_t n, const struct ptc_state *part,
		     uint64_t since_ns)
{
	struct ptc_maps maps = PTC_MAPS_INIT;
	struct ptc_process_copy *c = NULL;
	struct ptc_state s = *part;
	struct ptc_copy_stop stop;
	struct ptc_err ignored;
	int rc;

	ptc_emu_state_maps(u, p, threads[0].tid, &maps);
	s.pid = p->pid;
	s.base = p->base;
	s.maps = &maps;
	s.reader = threads[0].tid;
	s.no_memory = u->no_state_memory;
	rc = ptc_process_copy_new(&s, &c, &ignored);
	if (!rc) {
		ptc_process_copy_take(c, threads, n);
		stop = (struct ptc_copy_stop){ .ns = ptc_monotonic_ns() - since_ns };
		rc = ptc_process_copy_put(c, &stop, &u->lives, &ignored);
	}
	ptc_process_copy_free(c);
	ptc_maps_release(&maps);
	return rc;
}

void ptc_emu_live_save(struct ptc_emu_unit *u, uint64_t since_ns)
{
	struct ptc_copy_thread *threads = calloc(u->ntasks + 1, sizeof(*threads));
	struct ptc_copy_budget budget = { .left = PTC_COPY_MAX };
	struct ptc_state s = { .time_ns = ptc_clock_ns(u->cpus[0].rec.clock), .budget = &budget };
	uint32_t slot = 0;
	size_t i, n;

	ptc_buf_reset(&u->lives);
	u->nlives = 0;
	for (i = 0; i < u->nprocs && budget.processes < PTC_COPY_PROCESSES; i++)
		budget.processes += !ptc_emu_process_has_ended(u->procs[i]);
	u->no_memory |= !threads;
	for (i = 0; i < u->nprocs && u->nlives < PTC_COPY_PROCESSES && !u->no_memory; i++) {
		n = collect_guests(u, u->procs[i], threads, &slot);
		if (!n)
			continue;
		s.auxv = atomic_load(&u->sh->slots[slot].auxv);
		u->no_memory |= put_guest(u, u->procs[i], threads, n, &s, since_ns) != 0;
		u->nlives++;
	}
	free(threads);
}
