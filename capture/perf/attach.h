/* SPDX-License-Identifier: MIT */
/* To what runs already: whose threads may come and go meanwhile. */
#ifndef PTC_CAPTURE_PERF_ATTACH_H
#define PTC_CAPTURE_PERF_ATTACH_H

#include "capture/perf/set.h"
#include "capture/perf/tasks.h"
#include "ptcap/capture.h"

/*
 * Add the threads of @o->pids, and @o->tids, to @s, and switch their side records on; the
 * trace is still off. @processes gets the processes that they are of. In rounds, until
 * nobody is new: doc/adr/0013-events-rings-and-targets.md. PTC_E_NOT_EXIST: one of them is
 * not there, or all have ended meanwhile.
 */
int ptc_attach(struct ptc_set *s, const struct ptc_record_opts *o, struct ptc_tids *processes,
	       struct ptc_err *err);

#endif
