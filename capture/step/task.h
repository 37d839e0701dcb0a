/* SPDX-License-Identifier: MIT */
/* The traced threads and their shared address spaces. */
#ifndef PTC_CAPTURE_STEP_TASK_H
#define PTC_CAPTURE_STEP_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "capture/host/maps.h"
#include "capture/step/affinity.h"
#include "capture/step/insn_cache.h"
#include "capture/step/recorded_maps.h"
#include "capture/step/sigtrap.h"
#include "ptcap/capture.h"
#include "ptcap/error.h"

/* One address space: its mappings and its known code. All threads of a process share it. */
struct ptc_mm {
	unsigned int refs;
	struct ptc_maps maps;
	struct ptc_code code;
	struct ptc_told told;
	uint64_t from, to; /* addresses of the zone's edges (trace_range.h); 0: not mapped */
	/* addresses of snapshot places (snapshot_points.h); 0: not mapped */
	uint64_t at[PTC_AT_MAX];
	bool trap_ignored; /* the program ignores SIGTRAP */
	bool leave; /* the process cannot be stepped: its tasks are detached when they stop */
};

enum { PTC_USER_CS = 0x33 }; /* 64-bit user code; arch/x86/include/asm/segment.h */

enum ptc_task_state {
	PTC_TASK_BORN,	    /* its first stop has not occurred yet */
	PTC_TASK_READY,	    /* stopped; can be resumed */
	PTC_TASK_RUNNING,   /* resumed: in an instruction or a system call */
	PTC_TASK_LISTENING, /* stopped by job control: stops again when it is continued */
	PTC_TASK_ENDING,    /* has passed its exit stop; must be reaped */
};

/* One thread. */
struct ptc_task {
	pid_t tid, pid;
	enum ptc_task_state state;
	struct ptc_mm *mm;		/* shared; NULL until the parent's event was seen */
	struct user_regs_struct regs;	/* at the last stop */
	struct user_regs_struct before; /* at the last resume */
	struct ptc_insn insn;		/* the instruction at ip, next or running */
	uint64_t ip;
	uint64_t tsc;  /* time of the last resume */
	bool rounds;   /* the string instruction at ip has done an iteration and will continue */
	int inject;    /* signal to deliver with the next resume */
	bool injected; /* a signal was delivered with the last resume */
	bool exec_pending; /* the stop at the end of an execve has not occurred yet */
	bool mid_call;	   /* stopped inside a system call: a fork or exec event */
	bool in_kernel;	   /* its system call was already listed, because it blocks */
	bool seen;	   /* has had the CPU before */
	bool reported;	   /* its EXIT record is written */
	/* the kernel will restart the call at this address (-ERESTART*); 0: no */
	uint64_t restart_ip;
	int stop_signal; /* while LISTENING: the signal of job control */
	struct ptc_affinity affinity;
	bool refused;	/* its system call was replaced by an invalid one (refuse_ptrace.h) */
	bool at_place;	/* before a place at which a snapshot is taken */
	bool loose;	/* runs at full speed, outside the zone */
	uint64_t armed; /* address that its debug register watches; 0: none */
	struct ptc_sigtrap trap;
	bool own_tf; /* the program itself has set the trap flag */
};

/* All threads, unordered. A pointer to a task stays valid until the task is removed. */
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

/* Returns the thread's process ("Tgid:" in /proc/TID/status), or -1. */
pid_t ptc_task_process(pid_t tid);

/* Returns the thread's tracer ("TracerPid:"): 0 none, -1 unknown. */
pid_t ptc_task_tracer(pid_t tid);

/*
 * Builds the error for seizing @tid, which failed with @sys: possible reasons, and the current
 * tracer.
 */
int ptc_task_refuse(pid_t tid, int sys, struct ptc_err *err);

enum { PTC_SYSCALL_LEN = 2 }; /* length of syscall, sysenter, int 0x80 */

/*
 * Returns the address at which a stopped thread's system call will be restarted (-ERESTART*), if
 * nothing intervenes. 0: no system call, or it has ended.
 */
uint64_t ptc_task_restarts(const struct user_regs_struct *regs);

/*
 * Returns true if the file is a 32-bit ELF file, including x32. Returns false if it cannot be read.
 */
bool ptc_task_file_is_32bit(const char *path);

/* Same for the file that the task executes. */
bool ptc_task_runs_32bit(pid_t tid);

/*
 * Returns true if the task sleeps in the kernel ('S', 'D', 'T' or 'I' in /proc/TID/stat), rather
 * than waits for the CPU.
 */
bool ptc_task_sleeps(pid_t tid);

#endif
