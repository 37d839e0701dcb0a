/* SPDX-License-Identifier: MIT */
#include "decode/sideband/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* More CPUs than Linux supports: a larger number means damaged data. */
enum { MAX_CPUS = 8192 };

void ptc_procs_init_beside(struct ptc_procs *ps, const struct ptc_procs *from)
{
	ps->origin = from->origin;
	ptc_kernel_maps_copy(&ps->kernel, &from->kernel);
	ps->nobody.kernel = from->nobody.kernel ? &ps->kernel.as : NULL;
}

static void remove_all(struct ptc_procs *ps)
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
	remove_all(ps);
	free(ps->procs);
	free(ps->threads);
	free(ps->running);
	ptc_addrspace_release(&ps->nobody);
	ptc_kernel_maps_release(&ps->kernel);
	memset(ps, 0, sizeof(*ps));
}

void ptc_procs_rewind(struct ptc_procs *ps)
{
	remove_all(ps);
	ptc_kernel_begin(&ps->origin->kernel, &ps->kernel);
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

struct ptc_runner ptc_procs_runner(const struct ptc_procs *ps, int32_t tid, int32_t cpu)
{
	struct ptc_runner who = { -1, tid != -1 ? tid : ptc_procs_running(ps, cpu), -1, NULL };
	const struct ptc_thread *t = who.tid >= 0 ? ptc_procs_thread(ps, who.tid) : NULL;

	/* No record names its process: assumes a main thread, as most threads are main threads. */
	who.pid = t && t->pid != -1 ? t->pid : ptc_procs_find(ps, who.tid) ? who.tid : -1;
	who.cpu = cpu != -1 ? cpu : t ? t->cpu : -1;
	/* A process -1 exists in raw mode only. */
	who.proc = ptc_procs_find(ps, who.pid);
	return who;
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
	p->as.states = &ps->origin->states;
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
	struct ptc_thread *t;

	if (tid < 0 || pid < 0)
		return true;
	t = get_thread(ps, tid);
	if (!t)
		return false;
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

bool ptc_procs_name_thread(struct ptc_procs *ps, int32_t tid, int32_t pid, const char *name)
{
	struct ptc_thread *t;

	if (!ptc_procs_set_thread(ps, tid, pid))
		return false;
	if (tid < 0 || pid < 0)
		return true;
	t = get_thread(ps, tid);
	(void)snprintf(t->name, sizeof(t->name), "%s", name);
	return true;
}

void ptc_procs_inherit_thread_name(struct ptc_procs *ps, int32_t tid, int32_t parent)
{
	const size_t from = ptc_idmap_find(&ps->thread_places, parent);
	const size_t to = ptc_idmap_find(&ps->thread_places, tid);

	if (from < SIZE_MAX && to < SIZE_MAX && from != to)
		memcpy(ps->threads[to].name, ps->threads[from].name, PTC_THREAD_NAME_MAX);
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
	const bool own = ptc_origin_has_names(ps->origin, parent->pid, parent->names_since, time);

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
	if (ptc_origin_has_names(ps->origin, pid, UINT64_MAX, 0))
		ptc_addrspace_rename(&child->as);
	return true;
}
