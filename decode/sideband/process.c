/* SPDX-License-Identifier: MIT */
#include "decode/sideband/process.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* More CPUs than Linux supports: a larger number means damaged data. */
enum { MAX_CPUS = 8192 };

void ptc_procs_clear(struct ptc_procs *ps)
{
	size_t i;

	for (i = 0; i < ps->nprocs; i++) {
		ptc_addrspace_release(&ps->procs[i]->as);
		(void)ptc_view_put(ps->procs[i]->view);
		free(ps->procs[i]);
	}
	ps->nprocs = ps->nthreads = ps->ncpus = 0;
	ptc_idmap_release(&ps->proc_places);
	ptc_idmap_release(&ps->thread_places);
}

void ptc_procs_release(struct ptc_procs *ps)
{
	ptc_procs_clear(ps);
	free(ps->procs);
	free(ps->threads);
	free(ps->running);
	ptc_addrspace_release(&ps->nobody);
	ptc_origin_release(&ps->origin);
	ptc_codefiles_release(&ps->files);
	memset(ps, 0, sizeof(*ps));
}

void ptc_procs_swap(struct ptc_procs *ps, struct ptc_procs *other)
{
	struct ptc_procs was = *ps;

	ps->proc_places = other->proc_places;
	ps->thread_places = other->thread_places;
	ps->procs = other->procs;
	ps->nprocs = other->nprocs;
	ps->procs_cap = other->procs_cap;
	ps->threads = other->threads;
	ps->nthreads = other->nthreads;
	ps->threads_cap = other->threads_cap;
	ps->running = other->running;
	ps->ncpus = other->ncpus;
	ps->cpus_cap = other->cpus_cap;
	ps->lives = other->lives;
	other->proc_places = was.proc_places;
	other->thread_places = was.thread_places;
	other->procs = was.procs;
	other->nprocs = was.nprocs;
	other->procs_cap = was.procs_cap;
	other->threads = was.threads;
	other->nthreads = was.nthreads;
	other->threads_cap = was.threads_cap;
	other->running = was.running;
	other->ncpus = was.ncpus;
	other->cpus_cap = was.cpus_cap;
	other->lives = was.lives;
}

struct ptc_proc *ptc_procs_find(const struct ptc_procs *ps, int32_t pid)
{
	const size_t i = ptc_idmap_find(&ps->proc_places, pid);

	return i < SIZE_MAX ? ps->procs[i] : NULL;
}

const struct ptc_thread *ptc_procs_thread(const struct ptc_procs *ps, int32_t tid)
{
	const size_t i = ptc_idmap_find(&ps->thread_places, tid);

	return i < SIZE_MAX ? &ps->threads[i] : NULL;
}

int32_t ptc_procs_running(const struct ptc_procs *ps, int32_t cpu)
{
	return cpu >= 0 && (size_t)cpu < ps->ncpus ? ps->running[cpu] : -1;
}

struct ptc_proc *ptc_procs_get(struct ptc_procs *ps, int32_t pid)
{
	struct ptc_proc *p = ptc_procs_find(ps, pid);

	if (p)
		return p;
	if (!ptc_grow(&ps->procs, &ps->procs_cap, ps->nprocs + 1, sizeof(void *)))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p || !ptc_idmap_add(&ps->proc_places, pid, ps->nprocs)) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->as.states = &ps->states;
	p->as.kernel = ps->nobody.kernel;
	ps->procs[ps->nprocs++] = p;
	return p;
}

static struct ptc_thread *get_thread(struct ptc_procs *ps, int32_t tid)
{
	const size_t i = ptc_idmap_find(&ps->thread_places, tid);

	if (i < SIZE_MAX)
		return &ps->threads[i];
	if (!ptc_grow(&ps->threads, &ps->threads_cap, ps->nthreads + 1, sizeof(*ps->threads)) ||
	    !ptc_idmap_add(&ps->thread_places, tid, ps->nthreads))
		return NULL;
	ps->threads[ps->nthreads] = (struct ptc_thread){ .tid = tid, .pid = -1, .cpu = -1 };
	return &ps->threads[ps->nthreads++];
}

bool ptc_procs_set_thread(struct ptc_procs *ps, int32_t tid, int32_t pid)
{
	const size_t known = ps->nthreads;
	struct ptc_thread *t;

	if (tid < 0 || pid < 0)
		return true;
	t = get_thread(ps, tid);
	if (!t)
		return false;
	ps->moves += t->pid != pid && ps->nthreads == known;
	t->pid = pid;
	return true;
}

bool ptc_procs_begin_thread(struct ptc_procs *ps, int32_t tid, int32_t pid)
{
	if (!ptc_procs_set_thread(ps, tid, pid))
		return false;
	if (tid >= 0 && pid >= 0)
		get_thread(ps, tid)->life = ++ps->lives;
	return true;
}

uint64_t ptc_procs_life(const struct ptc_procs *ps, int32_t tid, int32_t pid)
{
	const struct ptc_thread *t = ptc_procs_thread(ps, tid);
	const struct ptc_proc *p = ptc_procs_find(ps, pid);
	const uint64_t of_thread = t ? t->life : 0, of_proc = p ? p->life : 0;

	return of_thread > of_proc ? of_thread : of_proc;
}

bool ptc_procs_set_running(struct ptc_procs *ps, uint32_t cpu, int32_t tid)
{
	struct ptc_thread *t;

	if (cpu >= MAX_CPUS)
		return true;
	if (cpu >= ps->ncpus) {
		if (!ptc_grow(&ps->running, &ps->cpus_cap, cpu + 1, sizeof(*ps->running)))
			return false;
		while (ps->ncpus <= cpu)
			ps->running[ps->ncpus++] = -1;
	}
	ps->running[cpu] = tid;
	if (tid < 0)
		return true;
	t = get_thread(ps, tid);
	if (t)
		t->cpu = (int32_t)cpu;
	return t;
}

void ptc_procs_exec(struct ptc_procs *ps, struct ptc_proc *p, uint64_t time)
{
	p->life = ++ps->lives;
	ptc_addrspace_clear(&p->as);
	p->names_since = time;
	p->names_of = 0;
}

/* Inherits names of code that is in no file: the parent's own up to now, or its inherited names. */
static void inherit_names(struct ptc_procs *ps, struct ptc_proc *child,
			  const struct ptc_proc *parent, uint64_t time)
{
	const bool own = ptc_origin_has_names(ps, parent->pid, parent->names_since, time);

	child->names_since = time;
	child->names_of = own ? parent->pid : parent->names_of;
	child->names_until = own ? time : parent->names_until;
}

bool ptc_procs_fork(struct ptc_procs *ps, int32_t pid, int32_t ppid, uint64_t time)
{
	struct ptc_proc *child = ptc_procs_get(ps, pid);
	const struct ptc_proc *parent = ptc_procs_find(ps, ppid);

	if (!child)
		return false;
	if (!parent) {
		ptc_procs_exec(ps, child, time);
		return true;
	}
	inherit_names(ps, child, parent, time);
	ptc_addrspace_copy(&child->as, &parent->as);
	/*
	 * The child has its own perf-PID.map: from now on its code has other names than the
	 * parent's.
	 */
	if (ptc_origin_has_names(ps, pid, UINT64_MAX, 0))
		ptc_addrspace_rename(&child->as);
	return true;
}
