/* SPDX-License-Identifier: MIT */
/* Attaches to running processes, whose threads may start and end at the same time. */
#ifndef PTC_CAPTURE_PERF_ATTACH_H
#define PTC_CAPTURE_PERF_ATTACH_H

#include "capture/host/tasks.h"
#include "capture/perf/event_set.h"
#include "ptcap/capture.h"

/*
 * Adds the threads of @o->pids, and @o->tids, to @s, and enables their sideband events. The trace
 * stays off. @processes gets their processes. Works in rounds until no new thread is found:
 * doc/adr/0013-events-rings-and-targets.md. PTC_E_NOT_EXIST: a target does not exist, or all have
 * ended by now.
 */
int ptc_attach(struct ptc_set *s, const struct ptc_record_opts *o, struct ptc_tids *processes,
	       struct ptc_err *err);

#endif
