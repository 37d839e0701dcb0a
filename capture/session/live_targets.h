/* SPDX-License-Identifier: MIT */
/* Adds the states of recorded processes that live on to a recording. */
#ifndef PTC_CAPTURE_SESSION_LIVE_TARGETS_H
#define PTC_CAPTURE_SESSION_LIVE_TARGETS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "capture/source/source.h"

struct ptc_live_caller;
struct ptc_live_missing;

/*
 * Appends the states of the processes that still run: @command with its descendants, or (0) those
 * of @o->target.pids. The processes stand still for a moment, one after the other. *@ret: number of
 * states, added to. @missing: states that could not be read, added to. @caller can end the wait.
 * Returns 0 or PTC_E_NO_MEMORY.
 */
int ptc_live_targets_put(struct ptc_buf *b, const struct ptc_record_opts *o, pid_t command,
			 const struct ptc_live_caller *caller, uint64_t *ret,
			 struct ptc_live_missing *missing, struct ptc_err *err);

#endif
