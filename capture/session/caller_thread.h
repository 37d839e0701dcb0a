/* SPDX-License-Identifier: MIT */
/* Runs the callbacks of a recording in the caller's thread, while the drain thread records. */
#ifndef PTC_CAPTURE_SESSION_CALLER_THREAD_H
#define PTC_CAPTURE_SESSION_CALLER_THREAD_H

#include <sys/types.h>

#include "capture/session/callback_mailbox.h"
#include "capture/source/source.h"

/* All pointers are borrowed. */
struct ptc_caller {
	const struct ptc_record_opts *opts;
	const struct ptc_source *source;
	struct ptc_relay *relay; /* messages from and to the drain thread */
	pid_t pid;		 /* the command, for on_wake */
};

/*
 * Runs the callbacks until the drain thread is done. Its work is then complete, and all ground
 * truth was delivered.
 */
int ptc_caller_serve(const struct ptc_caller *c, struct ptc_err *err);

#endif
