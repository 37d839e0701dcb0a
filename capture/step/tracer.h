/* SPDX-License-Identifier: MIT */
/*
 * The stepping itself: every thread of a command and of what it starts, from
 * the stop behind its exec to its end, instruction by instruction, one at a
 * time on one CPU. Runs in the process that traces them (process.h).
 */
#ifndef PTC_CAPTURE_STEP_TRACER_H
#define PTC_CAPTURE_STEP_TRACER_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "capture/soft/flow.h"
#include "capture/soft/lbr.h"
#include "capture/soft/mapped.h"
#include "capture/soft/records.h"
#include "capture/soft/truth.h"
#include "capture/states.h"
#include "capture/step/crossing.h"
#include "capture/step/process.h"
#include "capture/step/task.h"
#include "capture/step/zone.h"

struct ptc_tracer {
	/* set by the source */
	struct ptc_flow *flow;
	struct ptc_records *rec;
	size_t watermark;		     /* AUX bytes between publications */
	unsigned int cpu;		     /* where tracer and targets run */
	struct ptc_step_shared *shared;	     /* what the session wants, and how far we are */
	struct ptc_truth *truth;	     /* to be woken at the end; or NULL */
	uint64_t max_insns;		     /* then stop; 0: no limit */
	struct ptc_zone zone;		     /* where to trace */
	const struct ptc_lbr_stacks *stacks; /* of threads; NULL: there are none */
	struct ptc_states states;	     /* of processes that die, if wanted */
	struct ptc_states code;		     /* of files that are gone, at the newest snapshot */
	uint64_t on_signals;		/* that ask for a snapshot, as a death does with states */
	struct ptc_crossings crossings; /* that ask for one */
	int held_fd;			/* an eventfd, for that: it is asked for. -1: not wanted */
	bool series;			/* each snapshot is a file, which needs @code */
	bool no_memory;			/* opts->no_memory, of @states */

	/* the outcome */
	int status;		  /* the command's, as waitpid gives it */
	bool left;		  /* the command was left running instead */
	bool limited;		  /* max_insns or the end of the zone was reached */
	uint64_t left_behind;	  /* tasks that outlived the command */
	uint64_t crashes;	  /* processes whose state was saved */
	uint64_t rightless;	  /* programs that did not get the rights of their file */
	char rightless_path[256]; /* the first */
	uint64_t untraced; /* processes that could not be stepped, and run on by themselves */

	/* the tracer's own */
	pid_t command;
	bool command_gone;
	struct ptc_tasks tasks;
	struct ptc_task *on_cpu; /* whose instructions the trace is of, or NULL */
	bool hold;		 /* a signal asks for a snapshot before it is delivered */
	uint64_t quantum_end;	 /* instructions: then another ready task has its turn */
	uint64_t published;	 /* encoder position */
	timer_t timer;		 /* kicks while a system call may block */
	bool have_timer, timer_on;
	struct ptc_affinity affinity; /* the tracer's */
	struct ptc_mapped files;
};

/* A tracer starts zeroed, but for what the source sets. */
void ptc_tracer_release(struct ptc_tracer *t);

/*
 * Run @argv (signal mask @mask), traced by the calling thread, up to the
 * PTRACE_EVENT_EXEC stop of its exec. On failure there is no child left.
 */
int ptc_tracer_launch(char *const *argv, const sigset_t *mask, pid_t *ret_pid, struct ptc_err *err);

/*
 * Attach to the threads of process @pid, those born meanwhile too, or (@one) to
 * the thread @pid alone. On failure what was attached still is: ptc_tracer_leave.
 * What cannot be stepped is PTC_E_UNSUPPORTED or PTC_E_PERM, with the reason.
 */
int ptc_tracer_attach(struct ptc_tracer *t, pid_t pid, bool one, struct ptc_err *err);

/* Puts the code of all files that were mapped, and are gone or replaced by now, into @t->code. */
int ptc_tracer_keep_code(struct ptc_tracer *t, struct ptc_err *err);

/*
 * Every task runs on as if we had not been there. Once ptcap wants to end, a task that does not
 * stop is not waited for: it is still in t->tasks then.
 */
void ptc_tracer_leave(struct ptc_tracer *t);

/* The rest of them, however long it takes. */
void ptc_tracer_let_go(struct ptc_tracer *t);

/* Processes that cannot be stepped: their tasks go as they stop. */
void ptc_tracer_leave_unsteppable(struct ptc_tracer *t);

/* As at a context switch: the trace stops, SWITCH out. */
void ptc_tracer_take_cpu(struct ptc_tracer *t);

/* Whether waits are interrupted every millisecond. */
void ptc_tracer_set_timer(struct ptc_tracer *t, bool on);

/* Wait for any task. 1: something was taken; 0: interrupted. */
int ptc_tracer_wait_any(struct ptc_tracer *t, struct ptc_err *err);

/*
 * Trace @pid, which is in its PTRACE_EVENT_EXEC stop, and all it starts, until
 * @pid is gone, or left. Its children that live on then are left as well. When
 * the tracing stops early (PTC_WANT_STOP, max_insns), @pid runs on and its end is
 * waited for. @pid 0: trace what was attached until all is gone, or left.
 */
int ptc_tracer_run(struct ptc_tracer *t, pid_t pid, struct ptc_err *err);

/* --- between tracer.c (whose turn it is) and stops.c (what a stop means) --- */

/* An AUX piece ends here: its record, then its head, then a wakeup, as the kernel does it. */
void ptc_tracer_publish(struct ptc_tracer *t);

/* The records to come are about @k. */
void ptc_tracer_speak_of(struct ptc_tracer *t, const struct ptc_task *k);

/* Does the instruction enter the kernel on purpose? */
bool ptc_stop_enters_kernel(const struct ptc_insn *insn);

/* A stop of the job control kind: the task is to be listened to, not resumed. */
bool ptc_stop_is_group(int status);

/* Behind the stop, is the SIGTRAP of the step still to come? (See stops.c.) */
bool ptc_stop_trap_is_due(const struct ptc_task *k, int status);

/* @k has stopped with @status, registers read: list what it did, and what is to be done next. */
int ptc_stop_take(struct ptc_tracer *t, struct ptc_task *k, int status, struct ptc_err *err);

/* @k sleeps in a system call: list the call now, so that another task can have the CPU. */
void ptc_stop_blocked(struct ptc_tracer *t, struct ptc_task *k);

/* @k loses the CPU, or is left: an asynchronous exit, if its trace is on. */
void ptc_stop_preempt(struct ptc_tracer *t, struct ptc_task *k);

#endif
