/* SPDX-License-Identifier: MIT */
/* Adds the states of recorded processes that live on to a recording. */
#ifndef PTC_CAPTURE_SESSION_LIVE_TARGETS_H
#define PTC_CAPTURE_SESSION_LIVE_TARGETS_H

#include <stdint.h>

#include "base/buf.h"
#include "capture/source/source.h"

/*
 * Appends the states of the processes in @o->target.pids that still run. The processes stand still
 * for a moment. The states of processes that ptrace refuses are left out. *@ret: number of states.
 * Returns 0 or PTC_E_NO_MEMORY.
 */
int ptc_live_targets_put(struct ptc_buf *b, const struct ptc_record_opts *o, uint64_t *ret,
			 struct ptc_err *err);

#endif
