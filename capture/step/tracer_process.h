/* SPDX-License-Identifier: MIT */
/*
 * The tracer runs in a process of its own. If a tracer dies without detaching, the kernel leaves
 * the trap flag set in its targets, and the SIGTRAP of the next instruction kills them. As a
 * separate process the tracer outlives a sudden death of ptcap, and detaches.
 */
#ifndef PTC_CAPTURE_STEP_TRACER_PROCESS_H
#define PTC_CAPTURE_STEP_TRACER_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptcap/capture.h"
#include "ptcap/error.h"

/* Requests of the session to the tracer. The value never decreases. */
enum ptc_want {
	PTC_WANT_TRACE = 0,
	PTC_WANT_STOP,	/* step no more; a command runs on, and the tracer waits for its end */
	PTC_WANT_LEAVE, /* detach from all tasks and end */
};

/* Snapshot handshake: decides which process may write to the rings. */
enum ptc_step_pause {
	PTC_STEP_GOES_ON, /* the tracer may write */
	PTC_STEP_ASKED,	  /* still the tracer; it should pause */
	PTC_STEP_PAUSED,  /* no process, until the session sets GOES_ON */
};

/* Memory shared by the two processes. */
struct ptc_step_shared {
	atomic_int want;	    /* enum ptc_want */
	atomic_int pause;	    /* enum ptc_step_pause */
	atomic_ullong insns, bytes; /* produced so far */
	uint64_t lives; /* number of states of live processes; written before each pause */

	/*
	 * Set by the tracer before its message about the start, or before its end. The members set
	 * last are guarded by done.
	 */
	pid_t pid; /* the command, or the first process attached to; 0: the start failed */
	int rc;	   /* error of the start, or a later error */
	struct ptc_err err;
	/* done, but some threads have not stopped yet: they are released later */
	atomic_bool lingers;
	bool done; /* the members below are valid */
	int status;
	bool left, limited, unreached, unmet;
	uint64_t rightless;
	char rightless_path[256];
	uint64_t left_behind, untraced, transfers, unshown, odd, crashes, handled;
};

struct ptc_step_process {
	struct ptc_step_shared *shared; /* a shared mapping */
	pid_t pid;			/* 0: none, or already reaped */
	int status;			/* valid once reaped */
	uint64_t leave_ns;		/* time of the first leave request; 0: none yet */
	unsigned int stuck;		/* leave requests in a row that found it unable to answer */
	bool killed;			/* it did not leave in time */
	uint64_t early_snapshots;	/* requested during the start */
	bool early_last;		/* on_wake returned PTC_WAKE_LAST during the start */
	int end_fd;  /* readable after the tracer's message; hangs up when it has ended */
	int life_fd; /* our end: its other end hangs up when ptcap is gone */
};

#define PTC_STEP_PROCESS_INIT                                                                      \
	{                                                                                          \
		.end_fd = -1, .life_fd = -1                                                        \
	}

/* The tracer process's code. @ctx belongs to the caller; the fork copies it. */
struct ptc_step_body {
	const char *name;	   /* of the process; at most 15 bytes */
	void (*run)(void *ctx);	   /* the process ends when it returns */
	void (*orphan)(void *ctx); /* ptcap is gone; called in a signal handler, maybe repeatedly */
	void *ctx;
};

/* Maps the shared memory. */
int ptc_step_process_init(struct ptc_step_process *p, struct ptc_err *err);

/* Starts the process. Returns only in the caller's process. */
int ptc_step_process_start(struct ptc_step_process *p, const struct ptc_step_body *body,
			   struct ptc_err *err);

/*
 * Waits for the tracer's message about the start. PTC_E_IO: it died instead, or opts->on_wake
 * requested an end. @opts NULL: on_wake is not called.
 */
int ptc_step_process_started(struct ptc_step_process *p, const struct ptc_record_opts *opts,
			     struct ptc_err *err);

/*
 * Sends the request @want. A request can miss a waiting tracer: repeat it until end_fd hangs up. A
 * tracer that was stopped from outside is continued. Its targets may be able to stop it for good,
 * so a tracer that does not leave in time is killed. Then end_fd hangs up, and @p->killed is set
 * (doc/adr/0025).
 */
void ptc_step_process_ask(struct ptc_step_process *p, enum ptc_want want);

/*
 * Continues the tracer if a recorded program has stopped it with SIGSTOP. Call it twice a second.
 */
void ptc_step_process_tend(const struct ptc_step_process *p);

/* Asks the tracer to pause. Returns false if it has not paused yet: call again. */
bool ptc_step_process_pause(struct ptc_step_process *p);
void ptc_step_process_resume(struct ptc_step_process *p);

/* Waits for the tracer's end, unless it lingers. PTC_E_IO if it did not end by itself. */
int ptc_step_process_reap(struct ptc_step_process *p, struct ptc_err *err);

/* Makes the tracer leave all targets, and waits for its end as ptc_step_process_reap does. */
int ptc_step_process_end(struct ptc_step_process *p, struct ptc_err *err);

/* Same if the tracer still runs; then releases everything. */
void ptc_step_process_release(struct ptc_step_process *p);

/* --- in the tracer process --- */

/* Returns the signal that interrupts the tracer's waits. */
int ptc_step_process_kick(void);

/*
 * Gives the tracer a session and signal settings of its own. Call it after the command was started,
 * which must not inherit these. From then on the tracer notices ptcap's end.
 */
void ptc_step_process_settle(const struct ptc_step_process *p);

/*
 * Reports that all targets stand still, and waits until the session resumes or has a new request.
 */
void ptc_step_process_stand_still(struct ptc_step_shared *sh, void (*tell)(void *ctx), void *ctx);

/* Tells ptcap that shared->pid or shared->rc is set. */
void ptc_step_process_tell(const struct ptc_step_process *p);

/*
 * All work is done and reported, but some threads are still to be released. ptcap does not wait for
 * that. All descriptors are closed, so no other process waits for them.
 */
void ptc_step_process_linger(const struct ptc_step_process *p);

#endif
