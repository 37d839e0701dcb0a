/* SPDX-License-Identifier: MIT */
/*
 * Judges the branch stacks of one recording by the trace of another run of the same program. Only
 * control flow is compared: the runs have other times, addresses and threads.
 *
 * The stacks are read twice. The first time they are put into a table (decode/lbr/flow_table.h).
 * Then the trace is decoded once, and marks the branches and stacks that it has. The second time
 * each stack gets its verdicts. So memory depends on the number of different stacks.
 */
#ifndef PTC_DECODE_LBR_OTHER_RUN_H
#define PTC_DECODE_LBR_OTHER_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auxtrace/reader/reader.h"
#include "decode/lbr/align.h"
#include "ptcap/decode.h"

enum ptc_other_verdict {
	PTC_OTHER_SEEN,	    /* the trace has the branch, and the entry is connected */
	PTC_OTHER_POSSIBLE, /* the same by the code only */
	PTC_OTHER_TARGET,   /* the direct branch at the source has another target */
	PTC_OTHER_SOURCE,   /* no branch at the source */
	PTC_OTHER_TYPE,	    /* the branch at the source has another type */
	PTC_OTHER_LINK,	    /* no code leads from the older entry to this one */
	/* Not judged: */
	PTC_OTHER_UNTRACED, /* an end in the kernel */
	PTC_OTHER_NO_FILE,  /* in no file with a build-id that the other run has mapped */
	PTC_OTHER_NO_CODE,  /* the code is missing, or was replaced */
	PTC_OTHER_KERNEL,   /* not connected, but the kernel may have run in between */
	PTC_OTHER_VERDICTS
};

/* "in the trace", "possible", ... */
const char *ptc_other_verdict_name(enum ptc_other_verdict v);

static inline bool ptc_other_is_judged(enum ptc_other_verdict v)
{
	return v < PTC_OTHER_UNTRACED;
}

static inline bool ptc_other_is_wrong(enum ptc_other_verdict v)
{
	return v > PTC_OTHER_POSSIBLE && ptc_other_is_judged(v);
}

/* The verdict on a whole stack. */
enum ptc_other_stack {
	PTC_OTHER_STACK_EXACT,	    /* the trace has all its branches, one after the other */
	PTC_OTHER_STACK_POSSIBLE,   /* no such place, but each step agrees with the code */
	PTC_OTHER_STACK_IMPOSSIBLE, /* an entry is wrong */
	PTC_OTHER_STACK_UNKNOWN,    /* no entry is wrong, but some are not judged */
	PTC_OTHER_STACK_SKIPPED,    /* a call stack, or a stack of too many entries */
	PTC_OTHER_STACKS
};

const char *ptc_other_stack_name(enum ptc_other_stack s);

/* A sample, lent for the call. */
struct ptc_other_sample {
	const struct ptc_sample *sample;
	uint64_t off;			  /* of its record */
	const struct ptc_branch *entries; /* newest first */
	size_t n;
	const uint8_t *verdicts; /* n of enum ptc_other_verdict, unless the stack is SKIPPED */
	enum ptc_other_stack stack;
	bool has_ip;	       /* the sample's ip could be compared with the newest entry */
	bool leads_to_ip;      /* code leads from the newest entry to the ip */
	struct ptc_item where; /* process and time, to find names */
};

struct ptc_other_opts {
	struct ptc_decode *a; /* with the stacks; with opts.untraced; not run */
	struct ptc_decode *b; /* with the trace; without opts.runs; not run yet */
	uint64_t first, last; /* numbers of samples in order of time, from 1; both included */
	/* Called for each sample, in order of time. Returns false if out of memory. */
	bool (*on_sample)(void *ctx, const struct ptc_other_sample *s);
	void *ctx;
};

struct ptc_other_total {
	uint64_t samples, entries;  /* of the first recording */
	uint64_t branches;	    /* of the trace of the second one */
	uint64_t edges, edges_seen; /* different branches in the stacks; in the trace, too */
	bool traced;		    /* the second recording has a trace */
	bool limited;	   /* some stacks were not searched, or not compared with all code */
	bool many_threads; /* some threads of the trace were not followed */
};

/*
 * If *@ret has no samples or no trace, nothing was judged. PTC_E_NOT_EXIST: not the same program
 * (program_match.h). Other errors: as ptc_compare_run.
 */
int ptc_other_run(const struct ptc_other_opts *opts, struct ptc_other_total *ret,
		  struct ptc_err *err);

#endif
