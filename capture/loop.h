/* SPDX-License-Identifier: MIT */
/*
 * While it records: a thread of its own polls and drains the rings and speaks with the source;
 * the caller's thread has the callbacks, which may take as long as they like. What they have to
 * tell each other goes through struct ptc_relay.
 */
#ifndef PTC_CAPTURE_LOOP_H
#define PTC_CAPTURE_LOOP_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

#include "capture/drain.h"
#include "capture/relay.h"
#include "capture/series.h"

struct ptc_loop {
	const struct ptc_record_opts *opts; /* lent, as are source and drain */
	struct ptc_source *source;
	struct ptc_drain *drain;
	struct ptc_series *series; /* NULL: the snapshots are in one file */
	const uint64_t
		*rights; /* lent; capabilities that the thread keeps from its go on; NULL: all */
	struct ptc_relay relay;
	pthread_t thread;
	bool runs;   /* there is a thread, which may wait for its go still */
	sem_t begun; /* posted by the thread when it begins; valid while @runs */
	/* From its go on the thread's own, until it is done. */
	struct pollfd *fds; /* owned: the rings', then the end, then the relay */
	enum ptc_asked asked;
	bool pausing;			     /* for a snapshot */
	bool more;			     /* there is trace that had no turn yet */
	bool limited;			     /* the time is up */
	bool last;			     /* the end takes a snapshot, whatever it is */
	uint64_t snapshots;		     /* taken */
	uint64_t behind_ns;		     /* the newest; see struct ptc_taken */
	uint64_t wanted;		     /* by the caller, so far */
	uint64_t start_ns, tell_ns, stop_ns; /* CLOCK_MONOTONIC; UINT64_MAX: not */
	uint64_t take_ns;		     /* the next snapshot */
	uint64_t ran_ns;		     /* from start_ns to the end */
	int rc;
	struct ptc_err err;
};

/*
 * Make the thread, with the priority that is asked for; it has begun, and waits, when this returns:
 * a software source forks then. PTC_E_PERM: such a priority is not for us. Release it whether this
 * fails or not.
 */
int ptc_loop_init(struct ptc_loop *l, const struct ptc_record_opts *opts, struct ptc_source *source,
		  struct ptc_drain *drain, struct ptc_err *err);
void ptc_loop_release(struct ptc_loop *l);

/* Record until the source's end; the callbacks are called meanwhile. @pid: the command. */
int ptc_loop_run(struct ptc_loop *l, pid_t pid, struct ptc_err *err);

#endif
