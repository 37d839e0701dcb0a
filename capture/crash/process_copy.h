/* SPDX-License-Identifier: MIT */
/*
 * The state of a process that lives on, as records (ptcap/crash.h): what each thread does, its
 * registers and its stack. The process stands still only while ptc_process_copy_take copies memory.
 */
#ifndef PTC_CAPTURE_CRASH_PROCESS_COPY_H
#define PTC_CAPTURE_CRASH_PROCESS_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/buf.h"
#include "capture/crash/state_capture.h"
#include "ptcap/error.h"

/* Limit for the processes of one snapshot. */
enum { PTC_COPY_PROCESSES = 256 };

/*
 * Memory for the processes of one snapshot, in bytes. Each process gets an equal share of the rest.
 */
struct ptc_copy_budget {
	size_t left;
	size_t processes; /* whose copies are still to be taken */
};

enum { PTC_COPY_MAX = 128 << 20 };

/* A thread of a process that stands still. */
struct ptc_copy_thread {
	pid_t tid;
	bool stopped;	 /* false: in state D. regs: those of its system call; rip 0: unknown */
	bool in_call;	 /* regs belong to the start of a system call that has not returned */
	int stop_signal; /* job control had stopped the process with this signal; 0: it ran */
	struct user_regs_struct regs;
};

/* How long the process stood still, and how many system calls were restarted after that. */
struct ptc_copy_stop {
	uint64_t ns, restarted;
};

struct ptc_process_copy;

/*
 * Prepares a copy of process @s->pid while the process runs: reads its mappings, searches for
 * Python. Of @s only pid, time_ns, no_memory, budget, and the members for an emulated program are
 * used; @s->maps must outlive the copy. Caller frees *@ret. Errors: of ptc_maps_read,
 * PTC_E_NO_MEMORY.
 */
int ptc_process_copy_new(const struct ptc_state *s, struct ptc_process_copy **ret,
			 struct ptc_err *err);
/* Accepts NULL. */
void ptc_process_copy_free(struct ptc_process_copy *c);

/*
 * Copies stacks, locks, and names of files, and reduces the budget. The process stands still.
 * @threads must stay valid until the put. At least 4 KiB of each stack are kept.
 */
void ptc_process_copy_take(struct ptc_process_copy *c, const struct ptc_copy_thread *threads,
			   size_t n);

/*
 * Appends the state as records. The process may run again. On failure (PTC_E_NO_MEMORY) @b may have
 * incomplete records.
 */
int ptc_process_copy_put(struct ptc_process_copy *c, const struct ptc_copy_stop *stop,
			 struct ptc_buf *b, struct ptc_err *err);

#endif
