/* SPDX-License-Identifier: MIT */
/*
 * The events of a recording and their rings: doc/adr/0013-events-rings-and-targets.md. Targets are
 * threads, a cgroup, or all tasks. Each target has on each CPU a tracing event and a sideband
 * event. All events of a CPU share one ring pair. With per_thread a target has one event of each
 * kind, for any CPU, and its own ring pair. A third event may sample the trace or branch stacks.
 */
#ifndef PTC_CAPTURE_PERF_EVENT_SET_H
#define PTC_CAPTURE_PERF_EVENT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/perf/attr_fallback.h"
#include "capture/perf/cpus.h"
#include "capture/perf/enable_retry.h"
#include "capture/perf/event.h"
#include "capture/source/source.h"

/* The events of a target on a CPU. */
struct ptc_slot {
	size_t ring;
	uint64_t id[PTC_SOURCE_EVENTS];
	pid_t tid;		   /* -1: any task */
	int fd[PTC_SOURCE_EVENTS]; /* -1: not open. In the order of the set's attr[] */
	bool over;		   /* its CPU went offline: a newer slot has replaced it */
};

/* Counters that are read from the events at the end. */
struct ptc_set_counts {
	uint64_t enabled_ns, running_ns; /* sums over all targets */
	uint64_t lost; /* records, counted by the events; 0 on kernels without such counts */
	/* targets whose events did not run all the time; at most 1 if threads inherited events */
	size_t unscheduled;
	size_t failed; /* events in error state: at some point they stopped counting */
	struct ptc_ledger_event *events; /* one for each event; caller frees; NULL: no memory */
	size_t nevents;
};

struct ptc_set {
	const struct ptc_event *event;
	struct perf_event_attr attr[PTC_SOURCE_EVENTS]; /* the sideband event is the last */
	size_t nevents;	     /* 1: only the sideband event; 3: the second one samples */
	const char *sampler; /* borrowed; the sampling event's name */
	/* the sampling event is in the tracing event's group: its samples contain the trace */
	bool grouped;
	bool may_exclude; /* the kernel may be excluded without an error */
	bool overwrite;	  /* the AUX area is mapped read-only: snapshots, samples */
	bool per_thread;
	size_t data_size, aux_size; /* aux_size 0: no AUX area */
	unsigned long flags;	    /* of perf_event_open */
	const char *filter;	    /* borrowed; for the tracing events; NULL: none */
	struct ptc_opener opener;
	int (*control)(int fd, unsigned long request); /* ioctl(2), except in tests */
	void (*note)(void *ctx, const char *text);     /* NULL: no notes */
	void *note_ctx;
	struct ptc_cpus cpus; /* owned */
	size_t ntargets;      /* expected minimum, for a message */

	struct ptc_slot *slots; /* owned */
	size_t nslots, slots_cap;
	/* owned, with their mappings and fd, an epoll of all their events */
	struct ptc_source_ring *rings;
	size_t nrings, rings_cap;
	uint64_t *heads; /* owned; AUX heads of the rings, see ptc_set_moved */
	size_t heads_cap;
	struct ptc_source_id *ids;	 /* owned; see ptc_set_ids */
	bool settled[PTC_SOURCE_EVENTS]; /* attr was accepted by this kernel */
	bool main_on, side_on;		 /* state of the last enable or disable */
	struct ptc_again again;		 /* see ptc_set_keep_on */
	size_t live;			 /* events whose target has not ended */
	uint64_t ended_badly;		 /* events that the kernel has set to error state */
};

/* Initialises an empty set. ptc_set_release is valid from then on. */
void ptc_set_init(struct ptc_set *s);
void ptc_set_release(struct ptc_set *s);

/*
 * Opens disabled events for @tid (or -1, or a cgroup's descriptor) on each CPU. Sideband events are
 * enabled if ptc_set_enable_side was called. @late: EBUSY from the exclusive PMU means that the
 * thread has inherited its events, and it is skipped. Returns 1, 0 if there is no such thread (any
 * more), or an error.
 */
int ptc_set_add(struct ptc_set *s, pid_t tid, bool late, struct ptc_err *err);

/*
 * CPU @cpu has come online or has come back: its old events are dead. Opens new ones for @tid, as
 * ptc_set_add does, that write into the CPU's ring. Enables the sideband events, and the others if
 * @on. PTC_E_NOT_EXIST: the CPU has no ring (ptc_rings_spare), or is offline again.
 */
int ptc_set_again(struct ptc_set *s, pid_t tid, int cpu, bool on, struct ptc_err *err);

/* Makes the rings' wakeups also report @fd. */
int ptc_set_wake_for(struct ptc_set *s, int fd, struct ptc_err *err);

/*
 * A thread created while events are being enabled may stay without a trace, and may even pass that
 * state to its parent. From now on ring 0 wakes its reader three times within a second after
 * inherited events were enabled. The reader then calls ptc_set_on_again.
 */
int ptc_set_keep_on(struct ptc_set *s, struct ptc_err *err);
/* If a repetition is due: enables the events again. For an enabled event that is cheap. */
void ptc_set_on_again(struct ptc_set *s);

/* Enables sideband records. */
void ptc_set_enable_side(struct ptc_set *s);
/* Enables the trace. If there is only one event, that event has the sideband records too. */
void ptc_set_enable(struct ptc_set *s);
/* Restarts the trace of a ring that was full, once it has space again. */
void ptc_set_restart_ring(struct ptc_set *s, size_t ring);
void ptc_set_disable(struct ptc_set *s);
/*
 * Disables the trace in one pass. A task whose creation is under way may trace on: the next pass
 * stops it, and ptc_set_moved then returns true.
 */
void ptc_set_disable_once(struct ptc_set *s);
/* Disables sideband records too. */
void ptc_set_disable_all(struct ptc_set *s);

/* Returns true if an AUX head has moved since the last call. */
bool ptc_set_moved(struct ptc_set *s);

/*
 * Finds events of the ring whose targets have ended, and stops polling them. Returns true if ring 0
 * was woken by another descriptor (ptc_set_wake_for, ptc_set_keep_on).
 */
bool ptc_set_reap(struct ptc_set *s, size_t ring);

/*
 * Returns the id and target of every event, borrowed; NULL: out of memory. Call it after all events
 * were added.
 */
const struct ptc_source_id *ptc_set_ids(struct ptc_set *s, size_t *ret_n);

void ptc_set_counts(const struct ptc_set *s, struct ptc_set_counts *ret);

/* Returns the number of descriptors that the set needs, for messages. */
size_t ptc_set_fds(const struct ptc_set *s);

#endif
