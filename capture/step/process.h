/* SPDX-License-Identifier: MIT */
/*
 * The tracer's process. When a tracer dies without detaching, the kernel
 * leaves the trap flag set in what it stepped, which the next instruction's
 * SIGTRAP then kills. So the tracer is no part of ptcap's own process: it
 * outlives ptcap's sudden death, and detaches.
 */
#ifndef PTC_CAPTURE_STEP_PROCESS_H
#define PTC_CAPTURE_STEP_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptcap/capture.h"
#include "ptcap/error.h"

/* What the session wants of the tracer; goes up only. */
enum ptc_want {
	PTC_WANT_TRACE = 0,
	PTC_WANT_STOP,	/* no more stepping; a command runs on, and its end is waited for */
	PTC_WANT_LEAVE, /* detach from everything, and end */
};

/* Snapshots: who may write to the rings. */
enum ptc_step_pause {
	PTC_STEP_GOES_ON, /* the tracer */
	PTC_STEP_ASKED,	  /* still the tracer, until it says: */
	PTC_STEP_PAUSED,  /* nobody, until the session says: goes on */
};

/* Memory of both processes. */
struct ptc_step_shared {
	atomic_int want;	    /* enum ptc_want */
	atomic_int pause;	    /* enum ptc_step_pause */
	atomic_ullong insns, bytes; /* made so far */

	/* Set by the tracer before it has told, or ended (what is told last is in done). */
	pid_t pid; /* of the command, or of the first process attached to; 0: could not start */
	int rc;	   /* why it could not, or what went wrong later */
	struct ptc_err err;
	atomic_bool
		lingers; /* done, but there are threads that do not stop: they are let go later */
	bool done;	 /* the rest is valid */
	int status;
	bool left, limited, unreached, unmet;
	uint64_t rightless;
	char rightless_path[256];
	uint64_t left_behind, untraced, transfers, unshown, odd, crashes;
};

struct ptc_step_process {
	struct ptc_step_shared *shared; /* mapped */
	pid_t pid;			/* 0: none, or reaped */
	int status;			/* once reaped */
	uint64_t leave_ns;		/* when it was first asked to leave; 0: not yet */
	bool killed;			/* it did not leave in time */
	uint64_t early_snapshots;	/* asked for while it started */
	bool early_last;		/* PTC_WAKE_LAST was said then */
	int end_fd;			/* readable when it has told; hangs up when it has ended */
	int life_fd;			/* ours: hangs up over there when we are gone */
};

#define PTC_STEP_PROCESS_INIT                                                                      \
	{                                                                                          \
		NULL, 0, 0, 0, false, 0, false, -1, -1                                             \
	}

/* What the tracer's process does; @ctx is the caller's, copied by the fork. */
struct ptc_step_body {
	const char *name;	   /* of the process; at most 15 bytes */
	void (*run)(void *ctx);	   /* everything; the process ends with it */
	void (*orphan)(void *ctx); /* ptcap is gone: from a signal handler, maybe repeatedly */
	void *ctx;
};

/* Map what is shared. */
int ptc_step_process_init(struct ptc_step_process *p, struct ptc_err *err);

/* Start it. Returns in the caller's process only. */
int ptc_step_process_start(struct ptc_step_process *p, const struct ptc_step_body *body,
			   struct ptc_err *err);

/*
 * Wait until it has told how the start went. PTC_E_IO if it died instead, or if opts->on_wake says
 * meanwhile that all is to end. @opts NULL: nobody can say so.
 */
int ptc_step_process_started(struct ptc_step_process *p, const struct ptc_record_opts *opts,
			     struct ptc_err *err);

/*
 * Ask for @want. A request can cross a wait: repeat it until end_fd hangs up. A process that was
 * stopped from outside is continued. One that does not leave in time - what it traces may stop it
 * for good - is killed: then end_fd hangs up, and @p->killed is set (doc/adr/0025).
 */
void ptc_step_process_ask(struct ptc_step_process *p, enum ptc_want want);

/* Continues the tracer if a recorded program stopped the tracer with SIGSTOP. Call it twice a
 * second. */
void ptc_step_process_tend(const struct ptc_step_process *p);

/* Have it stand still. False: not yet; ask again. */
bool ptc_step_process_pause(struct ptc_step_process *p);
void ptc_step_process_resume(struct ptc_step_process *p);

/* Wait for its end, unless it lingers. PTC_E_IO if it did not come to it by itself. */
int ptc_step_process_reap(struct ptc_step_process *p, struct ptc_err *err);

/* Have it leave everything, and wait for its end, as ptc_step_process_reap. */
int ptc_step_process_end(struct ptc_step_process *p, struct ptc_err *err);

/* The same if it still runs, and everything is given back. */
void ptc_step_process_release(struct ptc_step_process *p);

/* --- in the tracer's process --- */

/* The signal that gets it out of a wait. */
int ptc_step_process_kick(void);

/*
 * Once the command is there, which must inherit none of it: a process group and
 * signals of its own; from now on ptcap's end is noticed.
 */
void ptc_step_process_settle(const struct ptc_step_process *p);

/* Say that all stands still, and wait until it may go on, or something else is wanted. */
void ptc_step_process_stand_still(struct ptc_step_shared *sh, void (*tell)(void *ctx), void *ctx);

/* Tell ptcap that shared->pid or shared->rc is set. */
void ptc_step_process_tell(const struct ptc_step_process *p);

/*
 * All is done and told, but some threads are still to be let go: ptcap does not wait for that, and
 * no descriptor keeps anybody else waiting.
 */
void ptc_step_process_linger(const struct ptc_step_process *p);

#endif
