/* SPDX-License-Identifier: MIT */
/*
 * The stepping itself: one thread of one process, from the stop behind its
 * exec to its end, instruction by instruction. Runs on the thread that traces
 * it (ptrace knows no other).
 */
#ifndef PTC_CAPTURE_STEP_TRACER_H
#define PTC_CAPTURE_STEP_TRACER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/user.h>

#include "capture/maps.h"
#include "capture/soft/flow.h"
#include "capture/soft/records.h"
#include "capture/step/affinity.h"
#include "capture/step/code.h"

/* Code bytes that are in no file, as they were from a time on. */
struct ptc_saved_code {
	uint64_t time, addr;
	uint8_t *bytes;
	size_t len;
	int pid;
};

struct ptc_tracer {
	/* set by the source */
	struct ptc_flow *flow;
	struct ptc_records *rec;
	size_t watermark;	  /* AUX bytes between publications */
	const atomic_bool *leave; /* set by the session's thread: detach */

	/* the outcome */
	int status; /* waitpid's, once gone */
	bool left;  /* detached instead */
	uint64_t untraced;
	struct ptc_saved_code *saved; /* owned */
	size_t nsaved, saved_cap;

	/* the tracer's own */
	pid_t pid;
	struct user_regs_struct regs; /* at the newest stop */
	struct ptc_insn insn;	      /* about to run, at ip */
	uint64_t ip;
	uint64_t tsc;	     /* when it was started */
	uint64_t published;  /* encoder position */
	int inject;	     /* signal to be delivered with the next resumption */
	bool injected;	     /* one was delivered with the newest */
	bool exec_pending;   /* the stop at the end of an execve is still to come */
	uint64_t restart_ip; /* the kernel will go back there (-ERESTART*); 0: no */
	bool gone, reaped;
	struct ptc_maps maps, maps_new;
	struct ptc_code code;
	struct ptc_affinity affinity;
};

/* @t zeroed but for what the source sets. */
int ptc_tracer_init(struct ptc_tracer *t, struct ptc_err *err);
void ptc_tracer_release(struct ptc_tracer *t);

/*
 * Run @argv (signal mask @mask), traced by the calling thread, up to the
 * PTRACE_EVENT_EXEC stop of its exec. On failure there is no child left.
 */
int ptc_tracer_launch(char *const *argv, const sigset_t *mask, pid_t *ret_pid, struct ptc_err *err);

/* Trace @pid, which is in its PTRACE_EVENT_EXEC stop, until it is gone or left. */
int ptc_tracer_run(struct ptc_tracer *t, pid_t pid, struct ptc_err *err);

#endif
