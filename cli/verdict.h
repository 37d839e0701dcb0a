/* SPDX-License-Identifier: MIT */
/*
 * What a recording of the newest trace has of each thread: how much of it, up to the end, is
 * complete, and why no more is.
 */
#ifndef PTC_CLI_VERDICT_H
#define PTC_CLI_VERDICT_H

#include <stdio.h>

#include "ptcap/decode.h"

struct ptc_verdict_thread {
	int32_t pid, tid;
	uint32_t queue; /* where it was last */
	/* Behind the last gap, if there was one. PTC_NO_TIME: not known. */
	uint64_t branches, first_ns, last_ns;
	uint64_t gaps, gap_bytes; /* not those in front of a snapshot: they are no loss */
	enum ptc_gap_cause cause; /* of the last of them; PTC_GAP_NONE: there was none */
};

struct ptc_verdict {
	struct ptc_verdict_thread *threads; /* owned; as they appear */
	size_t n, cap;
	size_t newest;	   /* whose item was the last */
	uint64_t unplaced; /* gaps of no thread that is known */
	bool no_memory;
};

/* Replay the recording at @path. Release it whether this fails or not. */
int ptc_verdict_make(struct ptc_verdict *v, const char *path, struct ptc_err *err);
void ptc_verdict_release(struct ptc_verdict *v);

/* Something can be said, and nothing is missing. */
bool ptc_verdict_complete(const struct ptc_verdict *v);

/* A line for each thread, @max at most, each behind @prefix. */
void ptc_verdict_show(FILE *out, const char *prefix, const struct ptc_verdict *v, size_t max);

/* Items of it, for who replays the recording anyway; a sink. */
int ptc_verdict_items(void *ctx, const struct ptc_item *items, size_t n);

#endif
