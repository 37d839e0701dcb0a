/* SPDX-License-Identifier: MIT */
/*
 * Steps every thread of a command and of its children, from the stop after the exec to their end.
 * Steps one instruction at a time, on one CPU. Runs in the process that traces them
 * (tracer_process.h).
 */
#ifndef PTC_CAPTURE_STEP_TRACER_H
#define PTC_CAPTURE_STEP_TRACER_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "capture/crash/handled_fault.h"
#include "capture/crash/state_channel.h"
#include "capture/soft/ground_truth.h"
#include "capture/soft/insn_to_packets.h"
#include "capture/soft/lbr.h"
#include "capture/soft/mapped_files.h"
#include "capture/soft/sideband_writer.h"
#include "capture/step/snapshot_points.h"
#include "capture/step/task.h"
#include "capture/step/trace_range.h"
#include "capture/step/tracer_process.h"

struct ptc_tracer {
	/* set by the source */
	struct ptc_flow *flow;
	struct ptc_records *rec;
	size_t watermark;		     /* AUX bytes between publications */
	unsigned int cpu;		     /* the CPU of the tracer and its targets */
	struct ptc_step_shared *shared;	     /* requests from the session, and progress */
	struct ptc_truth *truth;	     /* woken at the end; or NULL */
	uint64_t max_insns;		     /* stop after this number; 0: no limit */
	struct ptc_zone zone;		     /* range in which to trace */
	const struct ptc_lbr_stacks *stacks; /* branch stacks of the threads; NULL: not recorded */
	struct ptc_states states;	     /* of dying processes, if requested */
	struct ptc_handled faults;	     /* handled faults, with @states */
	struct ptc_states lives; /* of live processes at the newest pause, if requested */
	struct ptc_states code;	 /* of files that were gone at the newest snapshot */
	/* signals that request a snapshot; with states, a death requests one too */
	uint64_t on_signals;
	struct ptc_crossings crossings; /* places that request a snapshot */
	int held_fd;	/* an eventfd, written for each of these requests. -1: not wanted */
	bool series;	/* each snapshot is a file and needs @code */
	bool no_memory; /* opts->no_memory, for @states and @lives */

	/* results */
	int status;		  /* of the command, from waitpid */
	bool left;		  /* the command was left running instead */
	bool limited;		  /* max_insns or the end of the zone was reached */
	uint64_t left_behind;	  /* tasks that outlived the command */
	uint64_t crashes;	  /* processes whose state was saved */
	uint64_t handled;	  /* the same, of processes that handled the signal and exited */
	uint64_t rightless;	  /* programs that lack the rights of their file */
	char rightless_path[256]; /* path of the first */
	uint64_t untraced;	  /* processes that could not be stepped and run freely */

	/* used by the tracer only */
	pid_t command;
	bool command_gone;
	struct ptc_tasks tasks;
	struct ptc_task *on_cpu; /* the task whose instructions are being traced, or NULL */
	bool hold;		 /* a signal or a place requests a snapshot first */
	/*
	 * The task that a signal is about to kill, and whose state was saved; 0: none. It gets the
	 * CPU next, so that no other thread of its process moves before the death.
	 */
	pid_t dying;
	uint64_t quantum_end; /* instruction count at which another ready task gets the CPU */
	uint64_t published;   /* encoder position of the last publication */
	timer_t timer;	      /* sends kicks while a system call may block */
	bool have_timer, timer_on;
	struct ptc_affinity affinity; /* of the tracer */
	struct ptc_mapped files;
};

/* A tracer starts zeroed, except for the members that the source sets. */
void ptc_tracer_release(struct ptc_tracer *t);

/*
 * Starts @argv (signal mask @mask), traced by the calling thread, up to the PTRACE_EVENT_EXEC stop
 * of its exec. On failure no child is left.
 */
int ptc_tracer_launch(char *const *argv, const sigset_t *mask, pid_t *ret_pid, struct ptc_err *err);

/*
 * Attaches to all threads of process @pid, including new ones, or (@one) to thread @pid only. On
 * failure the threads attached so far stay attached: call ptc_tracer_leave. PTC_E_UNSUPPORTED or
 * PTC_E_PERM, with the reason: the target cannot be stepped.
 */
int ptc_tracer_attach(struct ptc_tracer *t, pid_t pid, bool one, struct ptc_err *err);

/* Writes the code of all mapped files that are gone or replaced into @t->code. */
int ptc_tracer_keep_code(struct ptc_tracer *t, struct ptc_err *err);

/*
 * Detaches from all tasks, which run on as if untraced. Once ptcap wants to end, tasks that do not
 * stop are not waited for: they stay in t->tasks.
 */
void ptc_tracer_leave(struct ptc_tracer *t);

/* Detaches from the remaining tasks, however long that takes. */
void ptc_tracer_let_go(struct ptc_tracer *t);

/* Detaches from stopped tasks of processes that cannot be stepped. */
void ptc_tracer_leave_unsteppable(struct ptc_tracer *t);

/*
 * Traces @pid, which is in its PTRACE_EVENT_EXEC stop, and its children, until @pid is gone or was
 * left. Children that outlive @pid are then left too. If tracing stops early (PTC_WANT_STOP,
 * max_insns), @pid runs on and its end is waited for. @pid 0: traces the attached tasks until all
 * are gone or were left.
 */
int ptc_tracer_run(struct ptc_tracer *t, pid_t pid, struct ptc_err *err);

/* Ends a chunk of AUX data, in the kernel's order: the AUX record, the head, then a wakeup. */
void ptc_tracer_publish(struct ptc_tracer *t);

/* --- on_cpu.c: the task on the CPU --- */

/* Makes @k the subject of the following records. */
void ptc_tracer_speak_of(struct ptc_tracer *t, const struct ptc_task *k);

/* Acts as at a context switch: ends the trace and writes SWITCH out. */
void ptc_tracer_take_cpu(struct ptc_tracer *t);

/* Gives @k the CPU for a quantum. Writes SWITCH out and in if another task had the CPU. */
void ptc_tracer_give_cpu(struct ptc_tracer *t, struct ptc_task *k);

/* Returns true if the instruction enters the kernel deliberately. */
bool ptc_stop_enters_kernel(const struct ptc_insn *insn);

/* The instruction of @k at k->ip retired, and @to is next. Lists it if @k has the CPU. */
void ptc_stop_retire(struct ptc_tracer *t, struct ptc_task *k, uint64_t to);

/* Control of @k leaves k->ip asynchronously. @attempted: the instruction there faulted. */
void ptc_stop_async(struct ptc_tracer *t, struct ptc_task *k, bool attempted);

/* The interrupted system call of @k runs again. */
void ptc_stop_restart(struct ptc_task *k);

/* @k sleeps in a system call: lists the call now, so that another task can have the CPU. */
void ptc_stop_blocked(struct ptc_tracer *t, struct ptc_task *k);

/* @k loses the CPU or is left: writes an asynchronous exit if its trace is on. */
void ptc_stop_preempt(struct ptc_tracer *t, struct ptc_task *k);

/* --- stops.c: the meaning of stops --- */

/* Returns true for a job control stop: the task must be listened to, not resumed. */
bool ptc_stop_is_group(int status);

/* Returns true if the step's SIGTRAP is still pending after this stop. (See stops.c.) */
bool ptc_stop_trap_is_due(const struct ptc_task *k, int status);

/*
 * Handles the stop of @k with @status; registers were read. Lists what @k did, and decides how to
 * continue.
 */
int ptc_stop_take(struct ptc_tracer *t, struct ptc_task *k, int status, struct ptc_err *err);

/* --- wait_status.c: waits for stops --- */

/* @on: interrupt waits every millisecond. */
void ptc_tracer_set_timer(struct ptc_tracer *t, bool on);

/* Waits for any task. Returns 1 if a stop or an end was handled, 0 if interrupted. */
int ptc_tracer_wait_any(struct ptc_tracer *t, struct ptc_err *err);

/* Resumes @k with signal @sig up to its next stop: usually one instruction. */
int ptc_tracer_resume(struct ptc_task *k, int sig, struct ptc_err *err);

/* Reads the registers of @k, which is stopped or gone, into k->regs. */
int ptc_tracer_read_regs(struct ptc_task *k, struct ptc_err *err);

#endif
