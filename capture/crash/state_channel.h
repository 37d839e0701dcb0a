/* SPDX-License-Identifier: MIT */
/*
 * Passes crash states, and code of files that are gone, from a tracer process to the session. It
 * uses a memory file, since the data may be larger than any ring.
 */
#ifndef PTC_CAPTURE_CRASH_STATE_CHANNEL_H
#define PTC_CAPTURE_CRASH_STATE_CHANNEL_H

#include <sys/types.h>

#include "base/buf.h"
#include "capture/crash/state_capture.h"
#include "ptcap/error.h"

struct ptc_states {
	int fd;	     /* -1: none; after fork, parent and child share the file */
	off_t taken; /* number of bytes that the session has taken */
};

#define PTC_STATES_INIT                                                                            \
	{                                                                                          \
		-1, 0                                                                              \
	}

int ptc_states_open(struct ptc_states *s, struct ptc_err *err);
/* Accepts PTC_STATES_INIT. */
void ptc_states_release(struct ptc_states *s);

/* Called by the tracer: adds the records of a process that is about to die. */
int ptc_states_add(const struct ptc_states *s, const struct ptc_state *state, struct ptc_err *err);

/* Called by the tracer: adds finished records. */
int ptc_states_add_records(const struct ptc_states *s, const struct ptc_buf *b,
			   struct ptc_err *err);

/* Called by the tracer: replaces all records with @b. */
int ptc_states_replace(const struct ptc_states *s, const struct ptc_buf *b, struct ptc_err *err);

/*
 * Called by the session: appends the records added since the last call. No process may add records
 * at that time.
 */
int ptc_states_take(struct ptc_states *s, struct ptc_buf *b, struct ptc_err *err);

/*
 * Called by the session: appends all records. No process may add or replace records at that time.
 */
int ptc_states_get(const struct ptc_states *s, struct ptc_buf *b, struct ptc_err *err);

#endif
