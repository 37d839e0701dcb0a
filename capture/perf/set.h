/* SPDX-License-Identifier: MIT */
/*
 * The events of a recording and their rings: doc/adr/0013-events-rings-and-targets.md.
 * For each target (a thread, a cgroup, or whatever runs) and each CPU there are an
 * event and one for side records; all of a CPU share one ring pair. With per_thread a
 * target has one of each, on any CPU, and a ring pair of its own. A third event there may
 * be, whose samples bring trace or branch stacks.
 */
#ifndef PTC_CAPTURE_PERF_SET_H
#define PTC_CAPTURE_PERF_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/perf/again.h"
#include "capture/perf/cpus.h"
#include "capture/perf/event.h"
#include "capture/perf/negotiate.h"
#include "capture/source.h"

/* One target on one CPU. */
struct ptc_slot {
	size_t ring;
	uint64_t id[PTC_SOURCE_EVENTS];
	pid_t tid;		   /* -1: whatever runs there */
	int fd[PTC_SOURCE_EVENTS]; /* -1: not open. As attr[] of the set */
	bool over;		   /* its CPU went: others have taken its place */
};

/* What is read from an event at the end. */
struct ptc_set_counts {
	uint64_t enabled_ns, running_ns; /* of all targets, added up */
	uint64_t lost;	    /* records, as the events counted them; 0 where the kernel does not */
	size_t unscheduled; /* targets whose events ran for less than they were on */
	size_t failed;	    /* in error state: they counted nothing from some point on */
	struct ptc_ledger_event
		*events; /* the caller's to free: each, as it was read; NULL: no memory */
	size_t nevents;
};

struct ptc_set {
	const struct ptc_event *event;
	struct perf_event_attr attr[PTC_SOURCE_EVENTS]; /* those of side records last */
	size_t nevents;	     /* 1: the event is that of side records; 3: the second one samples */
	const char *sampler; /* lent; its name */
	bool grouped;	     /* it is in the group of the one that traces, whose trace it brings */
	bool may_exclude;    /* the kernel may be left out quietly */
	bool overwrite;	     /* AUX is mapped read-only: snapshots, samples */
	bool per_thread;
	size_t data_size, aux_size; /* aux_size 0: no AUX */
	unsigned long flags;	    /* of perf_event_open */
	const char *filter;	    /* lent; for the events that trace; NULL: none */
	struct ptc_opener opener;
	int (*control)(int fd, unsigned long request); /* ioctl(2), but for tests */
	void (*note)(void *ctx, const char *text);     /* NULL: nobody listens */
	void *note_ctx;
	struct ptc_cpus cpus; /* owned */
	size_t ntargets;      /* that there will be at least, for a message */

	struct ptc_slot *slots; /* owned */
	size_t nslots, slots_cap;
	struct ptc_source_ring *rings; /* owned: their maps, and fd, an epoll of all their events */
	size_t nrings, rings_cap;
	uint64_t *heads; /* owned; of the rings' AUX areas, see ptc_set_moved */
	size_t heads_cap;
	struct ptc_source_id *ids;	 /* owned; see ptc_set_ids */
	bool settled[PTC_SOURCE_EVENTS]; /* attr is what this kernel takes */
	bool main_on, side_on;		 /* as they were switched last */
	struct ptc_again again;		 /* see ptc_set_keep_on */
	size_t live;			 /* events that are not over */
	uint64_t ended_badly;		 /* events that the kernel has put into error state */
};

/* Everything off and empty, so that ptc_set_release can follow. */
void ptc_set_init(struct ptc_set *s);
void ptc_set_release(struct ptc_set *s);

/*
 * Open events for @tid (or -1, or a cgroup's descriptor) on each CPU, off; those of side
 * records on if ptc_set_enable_side was called. @late: where the exclusive PMU says EBUSY
 * the thread has inherited its events from one that was attached to before, and is left as
 * it is. Returns 1, 0 if there is no such thread (any more), or an error.
 */
int ptc_set_add(struct ptc_set *s, pid_t tid, bool late, struct ptc_err *err);

/*
 * CPU @cpu has come, or went and has come back: the events that it had are over. There are new ones
 * for @tid, as above, in its ring, with those of side records on, and the others if @on.
 * PTC_E_NOT_EXIST: it has no ring (ptc_rings_spare), or is gone again.
 */
int ptc_set_again(struct ptc_set *s, pid_t tid, int cpu, bool on, struct ptc_err *err);

/* Let @fd wake whoever waits for the rings, too. */
int ptc_set_wake_for(struct ptc_set *s, int fd, struct ptc_err *err);

/*
 * Who is born while events are switched on may stay without a trace, and hand that on to its maker.
 * From now on ring 0 wakes whoever waits for it three times within a second of each time that
 * inherited ones were.
 */
int ptc_set_keep_on(struct ptc_set *s, struct ptc_err *err);
/* If it is time: what is to be on is switched on again, which costs little where it is. */
void ptc_set_on_again(struct ptc_set *s);

/* Side records flow from now on. */
void ptc_set_enable_side(struct ptc_set *s);
/* The trace (and, of events for nothing else, the records). */
void ptc_set_enable(struct ptc_set *s);
/* Of a ring that was full, once there is room again. */
void ptc_set_restart_ring(struct ptc_set *s, size_t ring);
void ptc_set_disable(struct ptc_set *s);
/* Side records too. */
void ptc_set_disable_all(struct ptc_set *s);

/* Has a head of the AUX rings moved since this was asked last? */
bool ptc_set_moved(struct ptc_set *s);

/*
 * Look which of the ring's events are over, as their targets are: they no longer wake anybody.
 * True: what else wakes for ring 0 has something to say (ptc_set_wake_for, ptc_set_keep_on).
 */
bool ptc_set_reap(struct ptc_set *s, size_t ring);

/* Every event's id and place, lent; NULL: out of memory. All were added. */
const struct ptc_source_id *ptc_set_ids(struct ptc_set *s, size_t *ret_n);

void ptc_set_counts(const struct ptc_set *s, struct ptc_set_counts *ret);

/* Descriptors that the set needs in all, for messages. */
size_t ptc_set_fds(const struct ptc_set *s);

#endif
