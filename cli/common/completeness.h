/* SPDX-License-Identifier: MIT */
/*
 * Coverage of each thread in a snapshot: how much trace up to the end is complete, and why there is
 * no more.
 */
#ifndef PTC_CLI_COMMON_COMPLETENESS_H
#define PTC_CLI_COMMON_COMPLETENESS_H

#include <stdio.h>

#include "cli/common/cpu_migrations.h"
#include "ptcap/decode.h"
#include "ptcap/lookup.h"

struct ptc_verdict_thread {
	int32_t pid, tid;
	uint32_t queue; /* AUXTRACE idx of its last queue */
	/* Since the last gap. PTC_NO_TIME: not known. */
	uint64_t branches, first_ns, last_ns;
	uint64_t insns;	  /* behind the first of these branches, if v->of_software */
	uint64_t last_to; /* target of the last branch; 0: left the traced code */
	/* The loop without branch packets at @last_to. */
	struct ptc_silent_loop circle;
	char circle_name[64];	  /* FUNCTION+0xOFFSET; "": not known */
	uint64_t gaps, gap_bytes; /* without those before a snapshot, which are no loss */
	enum ptc_gap_cause cause; /* of the last gap; PTC_GAP_NONE: no gap */
	bool parted;		  /* has a gap of its own, because it ran on more than one CPU */
	/* Its trace before moved_ns is overwritten, because it ran on this CPU; -1: it is not. */
	int32_t moved_cpu;
	uint64_t moved_ns;
};

struct ptc_verdict {
	struct ptc_verdict_thread *threads; /* owned; as they appear */
	size_t n, cap;
	size_t newest;	   /* index of the thread of the last item */
	uint64_t unplaced; /* gaps of no known thread */
	bool no_memory;
	bool of_software; /* a source without a real clock recorded: threads have insns */
	struct ptc_moves moves;
	struct ptc_verdict_told *told; /* owned; starts and ends of threads */
	size_t ntold, told_cap;
	uint64_t silent;       /* threads that are alive without a branch in the trace */
	uint64_t lost_records; /* sideband records lost since the recording began */
};

/* Decode the recording at @path. The caller releases @v on success and on failure. */
int ptc_verdict_make(struct ptc_verdict *v, const char *path, struct ptc_err *err);
void ptc_verdict_release(struct ptc_verdict *v);

/*
 * Return whether the thread's newest trace is complete, without losses. Overwritten older trace is
 * not a loss.
 */
bool ptc_verdict_thread_complete(const struct ptc_verdict_thread *t);
/* Return whether there are threads, all are complete, and no sideband record was lost. */
bool ptc_verdict_complete(const struct ptc_verdict *v);

/* Print a line for each thread, at most @max, with @prefix before each line. */
void ptc_verdict_show(FILE *out, const char *prefix, const struct ptc_verdict *v, size_t max);

/*
 * Steps of making a verdict: all sideband records, then all items (a sink), then settle. settle
 * returns 1 if items and settle must be repeated, because only now is it known where counting must
 * start. Out of memory: the first two return non-zero, and settle sets v->no_memory.
 */
int ptc_verdict_sideband(struct ptc_verdict *v, const struct ptc_sb *sb);
int ptc_verdict_items(void *ctx, const struct ptc_item *items, size_t n);
int ptc_verdict_settle(struct ptc_verdict *v);

#endif
