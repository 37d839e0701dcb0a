/* SPDX-License-Identifier: MIT */
/*
 * The states of processes that signals kill, and code of files that are gone, on their way from the
 * process that sees them to the session: a memory file, since they may be larger than any ring.
 */
#ifndef PTC_CAPTURE_STATES_H
#define PTC_CAPTURE_STATES_H

#include <sys/types.h>

#include "base/buf.h"
#include "capture/state.h"
#include "ptcap/error.h"

struct ptc_states {
	int fd;	     /* -1: there is none; a fork's is the same file */
	off_t taken; /* bytes of it, by the session */
};

#define PTC_STATES_INIT                                                                            \
	{                                                                                          \
		-1, 0                                                                              \
	}

int ptc_states_open(struct ptc_states *s, struct ptc_err *err);
/* Accepts PTC_STATES_INIT. */
void ptc_states_release(struct ptc_states *s);

/* Who sees it: add the records of one that is about to die. */
int ptc_states_add(const struct ptc_states *s, const struct ptc_state *state, struct ptc_err *err);

/* The same, of records that are made. */
int ptc_states_add_records(const struct ptc_states *s, const struct ptc_buf *b,
			   struct ptc_err *err);

/* The same, in place of all that was added. */
int ptc_states_replace(const struct ptc_states *s, const struct ptc_buf *b, struct ptc_err *err);

/* The session: append what was added since the last time. Nobody adds meanwhile. */
int ptc_states_take(struct ptc_states *s, struct ptc_buf *b, struct ptc_err *err);

/* The session: append everything. Nobody adds or replaces meanwhile. */
int ptc_states_get(const struct ptc_states *s, struct ptc_buf *b, struct ptc_err *err);

#endif
