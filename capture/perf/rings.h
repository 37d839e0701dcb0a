/* SPDX-License-Identifier: MIT */
/* The ring pairs of a set's events: doc/adr/0013-events-rings-and-targets.md. */
#ifndef PTC_CAPTURE_PERF_RINGS_H
#define PTC_CAPTURE_PERF_RINGS_H

#include "capture/perf/set.h"

/*
 * Add the ring pair of @cpu, mapped through event @fd; -1: of @tid, on any CPU. It is the last of
 * s->rings. On failure nothing stays mapped.
 */
int ptc_rings_new(struct ptc_set *s, pid_t tid, int cpu, int fd, struct ptc_err *err);

/*
 * Those of @cpus that have none get a ring whose page is NULL, as there is no event to map it
 * through: their CPU is not online. ptc_rings_map gives it its pages when it comes.
 */
int ptc_rings_spare(struct ptc_set *s, const struct ptc_cpus *cpus, struct ptc_err *err);
int ptc_rings_map(const struct ptc_set *s, struct ptc_source_ring *r, int fd, struct ptc_err *err);
/* It is as such a ring again; nobody may have seen its pages. */
void ptc_rings_unmap(const struct ptc_set *s, struct ptc_source_ring *r);

/* The ring of @cpu; with per_thread each slot has its own. */
bool ptc_rings_find(const struct ptc_set *s, int cpu, size_t *ret);

/* Unmap and close them; events that write into them may still be open. */
void ptc_rings_release(struct ptc_set *s);

#endif
