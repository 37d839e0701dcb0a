/* SPDX-License-Identifier: MIT */
/*
 * Runs the recording with two threads. The drain thread polls and drains the rings, and talks to
 * the source. The caller's thread runs the callbacks, which may take any time. Both communicate
 * through struct ptc_relay.
 */
#ifndef PTC_CAPTURE_SESSION_LOOP_H
#define PTC_CAPTURE_SESSION_LOOP_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

#include "capture/live/live_process.h"
#include "capture/session/callback_mailbox.h"
#include "capture/session/drain.h"
#include "capture/session/snapshot_files.h"

struct ptc_loop {
	const struct ptc_record_opts *opts; /* borrowed, as are source and drain */
	struct ptc_source *source;
	struct ptc_drain *drain;
	struct ptc_series *series; /* NULL: the snapshots are in one file */
	/* borrowed; capabilities that the thread keeps after its start signal; NULL: all */
	const uint64_t *rights;
	struct ptc_relay relay;
	pthread_t thread;
	bool runs;   /* the thread exists; it may still wait for its start signal */
	sem_t begun; /* posted by the thread at its begin; valid while @runs */
	/* Owned by the thread from its start signal until it is done. */
	struct pollfd *fds; /* owned: the rings, then the FD_* of loop.c */
	enum ptc_asked asked;
	bool pausing;			     /* a snapshot is wanted: pause the trace */
	bool more;			     /* a ring has trace left from the last round */
	bool limited;			     /* the time limit was reached */
	bool last;			     /* take a snapshot at the end, for any kind of end */
	pid_t command;			     /* whose states snapshots have; 0: the targets */
	uint64_t states;		     /* states of live processes in the snapshots */
	struct ptc_live_missing missing;     /* states that could not be read */
	uint64_t asks;			     /* the caller's requests to end so far */
	uint64_t snapshots;		     /* number taken */
	uint64_t paused_ns;		     /* when the trace stood still for the newest */
	uint64_t requested_ns;		     /* oldest request for a snapshot; 0: none */
	struct ptc_taken taken;		     /* times of the newest snapshot */
	uint64_t wanted;		     /* number requested by the caller so far */
	uint64_t start_ns, tell_ns, stop_ns; /* CLOCK_MONOTONIC; UINT64_MAX: never */
	uint64_t take_ns;		     /* when to take the next timed snapshot */
	uint64_t ran_ns;		     /* from start_ns to the end */
	int rc;
	struct ptc_err err;
};

/*
 * Creates the thread with the requested priority. When this returns, the thread runs and waits: a
 * software source may fork then. PTC_E_PERM: the priority is not permitted. Call ptc_loop_release
 * also after a failure.
 */
int ptc_loop_init(struct ptc_loop *l, const struct ptc_record_opts *opts, struct ptc_source *source,
		  struct ptc_drain *drain, struct ptc_err *err);
void ptc_loop_release(struct ptc_loop *l);

/* Records until the source ends, and calls the callbacks. @pid: the command. */
int ptc_loop_run(struct ptc_loop *l, pid_t pid, struct ptc_err *err);

#endif
