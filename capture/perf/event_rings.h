/* SPDX-License-Identifier: MIT */
/* The ring pairs of a set of events: doc/adr/0013-events-rings-and-targets.md. */
#ifndef PTC_CAPTURE_PERF_EVENT_RINGS_H
#define PTC_CAPTURE_PERF_EVENT_RINGS_H

#include "capture/perf/event_set.h"

/*
 * Adds the ring pair of @cpu, mapped through event @fd, at the end of s->rings. @cpu -1: the ring
 * pair of @tid on any CPU. On failure nothing stays mapped.
 */
int ptc_rings_new(struct ptc_set *s, pid_t tid, int cpu, int fd, struct ptc_err *err);

/*
 * ptc_rings_spare adds a ring with page NULL for each of @cpus without a ring: the CPU is offline,
 * so there is no event to map. ptc_rings_map maps such a ring when its CPU comes online.
 */
int ptc_rings_spare(struct ptc_set *s, const struct ptc_cpus *cpus, struct ptc_err *err);
int ptc_rings_map(const struct ptc_set *s, struct ptc_source_ring *r, int fd, struct ptc_err *err);
/* Unmaps a ring; page becomes NULL again. The consumer must not have read from its pages yet. */
void ptc_rings_unmap(const struct ptc_set *s, struct ptc_source_ring *r);

/* Finds the ring of @cpu. With per_thread each slot has its own ring, and none is found. */
bool ptc_rings_find(const struct ptc_set *s, int cpu, size_t *ret);

/* Unmaps and closes all rings. Events that write into them may still be open. */
void ptc_rings_release(struct ptc_set *s);

#endif
