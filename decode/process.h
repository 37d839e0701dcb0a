/* SPDX-License-Identifier: MIT */
/* Who ran where, with what mapped: the state that sideband records change. */
#ifndef PTC_DECODE_PROCESS_H
#define PTC_DECODE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "decode/addrspace.h"
#include "decode/codefile.h"
#include "decode/origin.h"
#include "decode/view.h"

struct ptc_proc {
	int32_t pid;
	struct ptc_addrspace as;
	/* Names of its code by time: its own since, and up to its fork those of another process. */
	uint64_t names_since, names_until;
	int32_t names_of;      /* 0: nobody else */
	struct ptc_view *view; /* owned; what as was when somebody asked for it; NULL: nobody did */
	uint64_t life;	       /* a number that each exec makes new; 0: none was seen */
};

struct ptc_thread {
	int32_t tid, pid; /* pid -1: not known */
	int32_t cpu;	  /* where it was seen last; -1: nowhere */
	uint64_t life;	  /* a number that a FORK of this tid makes new; 0: none was seen */
};

struct ptc_procs {
	struct ptc_proc **procs; /* owned; as they came. The objects do not move */
	size_t nprocs, procs_cap;
	struct ptc_thread *threads; /* owned; as they came */
	size_t nthreads, threads_cap;
	struct ptc_idmap proc_places, thread_places; /* in these two, by pid and by tid */
	int32_t *running;			     /* owned; tid by cpu, -1: not known */
	size_t ncpus, cpus_cap;
	uint64_t states;	     /* see struct ptc_addrspace */
	uint64_t lives;		     /* numbers that threads and processes got */
	uint64_t moves;		     /* how often a known thread got another process */
	struct ptc_addrspace nobody; /* of who is not known: nothing but the kernel, if that */
	struct ptc_codefiles files;
	struct ptc_origin origin;
};

void ptc_procs_release(struct ptc_procs *ps);
/* Forget all but the files. */
void ptc_procs_clear(struct ptc_procs *ps);

/* Exchange what records change, and nothing else, with @other, which has only that. */
void ptc_procs_swap(struct ptc_procs *ps, struct ptc_procs *other);

/* Find, or NULL. */
struct ptc_proc *ptc_procs_find(const struct ptc_procs *ps, int32_t pid);
const struct ptc_thread *ptc_procs_thread(const struct ptc_procs *ps, int32_t tid);
/* The thread running on @cpu, or -1. */
int32_t ptc_procs_running(const struct ptc_procs *ps, int32_t cpu);

/* Find or make; NULL: out of memory. */
struct ptc_proc *ptc_procs_get(struct ptc_procs *ps, int32_t pid);

/* The rest return false when out of memory. */
bool ptc_procs_set_thread(struct ptc_procs *ps, int32_t tid, int32_t pid);
/* Thread @tid of @pid begins: an earlier thread of this number is gone. */
bool ptc_procs_begin_thread(struct ptc_procs *ps, int32_t tid, int32_t pid);
/* @tid (-1: not known who) runs on @cpu from now on. */
bool ptc_procs_set_running(struct ptc_procs *ps, uint32_t cpu, int32_t tid);
/* @pid begins as a copy of @ppid at @time. */
bool ptc_procs_fork(struct ptc_procs *ps, int32_t pid, int32_t ppid, uint64_t time);
/* @p begins to run another program at @time. */
void ptc_procs_exec(struct ptc_procs *ps, struct ptc_proc *p, uint64_t time);
/* A number: while it is the same, thread @tid of @pid is the same one and runs the same program. */
uint64_t ptc_procs_life(const struct ptc_procs *ps, int32_t tid, int32_t pid);

#endif
