/* SPDX-License-Identifier: MIT */
/*
 * Processes and threads: which thread ran where, with which mappings. Sideband records change this
 * state.
 */
#ifndef PTC_DECODE_SIDEBAND_PROCESS_H
#define PTC_DECODE_SIDEBAND_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "decode/image/addrspace.h"
#include "decode/image/addrspace_snapshot.h"
#include "decode/sideband/code_provider.h"
#include "ptcap/lookup.h"

struct ptc_proc {
	int32_t pid;
	struct ptc_addrspace as;
	/*
	 * Names of its code by time: its own from names_since on, and those of another process up
	 * to the fork, at names_until.
	 */
	uint64_t names_since, names_until;
	int32_t names_of;      /* pid of that other process; 0: none */
	struct ptc_view *view; /* owned; the mappings when last requested; NULL: never requested */
	uint64_t life;	       /* changes with each exec; 0: no exec was seen */
};

struct ptc_thread {
	int32_t tid, pid;		/* pid -1: not known */
	int32_t cpu;			/* where the thread ran last; -1: nowhere */
	uint64_t life;			/* changes with each FORK of this tid; 0: none was seen */
	char name[PTC_THREAD_NAME_MAX]; /* as in its last COMM record; "": not known */
};

/* The thread that runs on a queue, and its process; NULL: not known. */
struct ptc_runner {
	int32_t pid, tid, cpu;
	struct ptc_proc *proc;
};

/* One table for each reader of the sideband records. */
struct ptc_procs {
	struct ptc_proc **procs; /* owned; in order of arrival. The objects do not move */
	size_t nprocs, procs_cap;
	struct ptc_thread *threads; /* owned; in order of arrival */
	size_t nthreads, threads_cap;
	struct ptc_idmap proc_places, thread_places; /* indexes into these two, by pid and by tid */
	int32_t *running;			     /* owned; tid by cpu, -1: not known */
	size_t ncpus, cpus_cap;
	uint64_t lives; /* counter: the lives of threads and processes */
	struct ptc_kernel_maps kernel;
	struct ptc_addrspace nobody; /* for unknown processes: only the kernel, if traced */
	struct ptc_origin *origin;   /* lent; the code of all mappings */
};

/*
 * Begins @ps, which is zeroed, as another table with the code of @from. It has no processes, and
 * the kernel as it is in @from now.
 */
void ptc_procs_init_beside(struct ptc_procs *ps, const struct ptc_procs *from);
void ptc_procs_release(struct ptc_procs *ps);
/* Resets the table to the state before any record. */
void ptc_procs_rewind(struct ptc_procs *ps);

/* Finds an entry. Returns NULL if there is none. */
struct ptc_proc *ptc_procs_find(const struct ptc_procs *ps, int32_t pid);
const struct ptc_thread *ptc_procs_thread(const struct ptc_procs *ps, int32_t tid);
/* Returns the thread that runs on @cpu, or -1. */
int32_t ptc_procs_running(const struct ptc_procs *ps, int32_t cpu);

/* Returns who runs on a queue of thread @tid (-1: any) on @cpu (-1: any). */
struct ptc_runner ptc_procs_runner(const struct ptc_procs *ps, int32_t tid, int32_t cpu);

/* Finds or creates an entry. Returns NULL if out of memory. */
struct ptc_proc *ptc_procs_get(struct ptc_procs *ps, int32_t pid);

/* The functions below return false if out of memory. */
bool ptc_procs_set_thread(struct ptc_procs *ps, int32_t tid, int32_t pid);
/* Thread @tid of @pid begins. An earlier thread with this tid has ended. */
bool ptc_procs_begin_thread(struct ptc_procs *ps, int32_t tid, int32_t pid);
/* @tid of @pid is called @name, which is cut to the kernel's length. */
bool ptc_procs_name_thread(struct ptc_procs *ps, int32_t tid, int32_t pid, const char *name);
/* @tid begins with the name of @parent. */
void ptc_procs_inherit_thread_name(struct ptc_procs *ps, int32_t tid, int32_t parent);
/* @tid (-1: unknown) runs on @cpu from now on. */
bool ptc_procs_set_running(struct ptc_procs *ps, uint32_t cpu, int32_t tid);
/* @pid begins as a copy of @ppid at @time. */
bool ptc_procs_fork(struct ptc_procs *ps, int32_t pid, int32_t ppid, uint64_t time);
/* @p executes another program at @time. */
void ptc_procs_exec(struct ptc_procs *ps, struct ptc_proc *p, uint64_t time);
/*
 * Returns a number that stays the same as long as @tid of @pid is the same thread and runs the same
 * program.
 */
uint64_t ptc_procs_life(const struct ptc_procs *ps, int32_t tid, int32_t pid);

#endif
