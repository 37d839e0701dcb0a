/* SPDX-License-Identifier: MIT */
/* What is traced: threads, and the address spaces they share. */
#ifndef PTC_CAPTURE_STEP_TASK_H
#define PTC_CAPTURE_STEP_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "capture/maps.h"
#include "capture/step/affinity.h"
#include "capture/step/code.h"
#include "capture/step/sigtrap.h"
#include "capture/step/told.h"
#include "ptcap/capture.h"
#include "ptcap/error.h"

/* One address space: its mappings and what is known of its code. Shared by the threads of a
 * process. */
struct ptc_mm {
	unsigned int refs;
	struct ptc_maps maps;
	struct ptc_code code;
	struct ptc_told told;
	uint64_t from, to;	 /* where the zone's edges are (zone.h); 0: nowhere */
	uint64_t at[PTC_AT_MAX]; /* where snapshots are taken (crossing.h); 0: nowhere */
	bool trap_ignored;	 /* SIGTRAP, by the program */
	bool leave; /* the process cannot be stepped: its tasks are let go as they stop */
};

enum { PTC_USER_CS = 0x33 }; /* 64-bit user code; arch/x86/include/asm/segment.h */

enum ptc_task_state {
	PTC_TASK_BORN,	    /* its first stop is still to come */
	PTC_TASK_READY,	    /* stopped: can be resumed */
	PTC_TASK_RUNNING,   /* resumed: in an instruction, or in a system call */
	PTC_TASK_LISTENING, /* stopped by job control: stops again when it is continued */
	PTC_TASK_ENDING,    /* passed its exit stop: to be reaped */
};

/* One thread. */
struct ptc_task {
	pid_t tid, pid;
	enum ptc_task_state state;
	struct ptc_mm *mm;		/* shared; NULL until its parent's event tells */
	struct user_regs_struct regs;	/* at the newest stop */
	struct user_regs_struct before; /* when it was resumed */
	struct ptc_insn insn;		/* about to run, or running, at ip */
	uint64_t ip;
	uint64_t tsc;	     /* when it was resumed */
	bool rounds;	     /* the string instruction at ip has made one, and goes on */
	int inject;	     /* signal to be delivered with the next resumption */
	bool injected;	     /* one was delivered with the newest */
	bool exec_pending;   /* the stop at the end of an execve is still to come */
	bool mid_call;	     /* stopped inside a system call: a fork or exec event */
	bool in_kernel;	     /* its system call was listed when it was found to block */
	bool seen;	     /* has had the CPU before */
	bool reported;	     /* its EXIT record is written */
	uint64_t restart_ip; /* the kernel will go back there (-ERESTART*); 0: no */
	struct ptc_affinity affinity;
	bool refused;	/* its system call was made none (refuse.h) */
	bool at_place;	/* in front of one that a snapshot is taken at */
	bool loose;	/* runs at full speed, outside the zone */
	uint64_t armed; /* the address its debug register watches; 0: none */
	struct ptc_sigtrap trap;
	bool own_tf; /* the program itself has set the trap flag */
};

/* All threads, in no order. Pointers to tasks live until the task is removed. */
struct ptc_tasks {
	struct ptc_task **items;
	size_t n, cap;
};

void ptc_tasks_release(struct ptc_tasks *ts);
struct ptc_task *ptc_tasks_find(const struct ptc_tasks *ts, pid_t tid);
/* NULL: out of memory. */
struct ptc_task *ptc_tasks_add(struct ptc_tasks *ts, pid_t tid);
void ptc_tasks_remove(struct ptc_tasks *ts, struct ptc_task *k);

struct ptc_mm *ptc_mm_new(void);
struct ptc_mm *ptc_mm_get(struct ptc_mm *mm);
void ptc_mm_put(struct ptc_mm *mm);

/* The process a thread belongs to ("Tgid:" of /proc/TID/status), or -1. */
pid_t ptc_task_process(pid_t tid);

/* Who traces it ("TracerPid:"): 0 nobody, -1 not known. */
pid_t ptc_task_tracer(pid_t tid);

/* To seize @tid failed with @sys: why that may be, and who has it already. */
int ptc_task_refuse(pid_t tid, int sys, struct ptc_err *err);

enum { PTC_SYSCALL_LEN = 2 }; /* syscall, sysenter, int 0x80 */

/*
 * Where a stopped thread's system call will be made again (-ERESTART*), if nothing
 * comes between; 0: it is in none, or that has ended.
 */
uint64_t ptc_task_restarts(const struct user_regs_struct *regs);

/* Is the file a 32-bit ELF, x32 included? False if it cannot be read. */
bool ptc_task_file_is_32bit(const char *path);

/* Is it so of the file that the task executes? */
bool ptc_task_runs_32bit(pid_t tid);

/* Is it asleep in the kernel ('S', 'D' or 'T' in /proc/TID/stat), and not just waiting for the CPU?
 */
bool ptc_task_sleeps(pid_t tid);

#endif
