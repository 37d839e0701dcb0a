/* SPDX-License-Identifier: MIT */
/*
 * What a recording of the newest trace has of each thread: how much of it, up to the end, is
 * complete, and why no more is.
 */
#ifndef PTC_CLI_VERDICT_H
#define PTC_CLI_VERDICT_H

#include <stdio.h>

#include "decode/circle.h"
#include "moves.h"
#include "ptcap/decode.h"

struct ptc_verdict_thread {
	int32_t pid, tid;
	uint32_t queue; /* its last queue */
	/* Since the last gap. PTC_NO_TIME: the time is not known. */
	uint64_t branches, first_ns, last_ns;
	uint64_t last_to; /* target of the last branch; 0: out of the trace */
	/* The loop without branch packets that @last_to leads into. */
	struct ptc_circle circle;
	char circle_name[64];	  /* FUNCTION+0xOFFSET; "": not known */
	uint64_t gaps, gap_bytes; /* not those in front of a snapshot: they are no loss */
	enum ptc_gap_cause cause; /* of the last of them; PTC_GAP_NONE: there was none */
	bool parted; /* a gap of its own: it came from another CPU, or was on one meanwhile */
	/* What it did before is overwritten, as it ran on this CPU up to that time; -1: it is not.
	 */
	int32_t moved_cpu;
	uint64_t moved_ns;
};

struct ptc_verdict {
	struct ptc_verdict_thread *threads; /* owned; as they appear */
	size_t n, cap;
	size_t newest;	   /* whose item was the last */
	uint64_t unplaced; /* gaps of no thread that is known */
	bool no_memory;
	struct ptc_moves moves;
	struct ptc_verdict_told *told; /* owned; births and ends of threads */
	size_t ntold, told_cap;
	uint64_t silent;       /* threads that are there, and have no branch in it */
	uint64_t lost_records; /* side records, since the recording began */
};

/* Replay the recording at @path. Release it whether this fails or not. */
int ptc_verdict_make(struct ptc_verdict *v, const char *path, struct ptc_err *err);
void ptc_verdict_release(struct ptc_verdict *v);

/*
 * Nothing was lost of it, and what it did last is there. What is overwritten in front of that is
 * no loss: that is what rings do.
 */
bool ptc_verdict_thread_complete(const struct ptc_verdict_thread *t);
/* All of them, there is one, and no side record was lost. */
bool ptc_verdict_complete(const struct ptc_verdict *v);

/* A line for each thread, @max at most, each behind @prefix. */
void ptc_verdict_show(FILE *out, const char *prefix, const struct ptc_verdict *v, size_t max);

/*
 * What it is made of: side records, then items (a sink), then what follows from both. 1: items once
 * more, and this again, as only now it is known from where on they count. The others: not 0 when
 * out of memory.
 */
int ptc_verdict_sideband(struct ptc_verdict *v, const struct ptc_sb *sb);
int ptc_verdict_items(void *ctx, const struct ptc_item *items, size_t n);
int ptc_verdict_settle(struct ptc_verdict *v);

#endif
