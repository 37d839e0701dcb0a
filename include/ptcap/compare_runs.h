/* SPDX-License-Identifier: MIT */
/*
 * Judges the branch stacks of one recording by the trace of another run of the same program. Only
 * control flow is compared: the runs have other times, addresses and threads.
 *
 * The stacks are read twice, before and after the trace. Memory depends on the number of different
 * stacks.
 */
#ifndef PTCAP_COMPARE_RUNS_H
#define PTCAP_COMPARE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptcap/decode.h"
#include "ptcap/error.h"
#include "ptcap/sample.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The verdict on an entry. */
enum ptc_runs_verdict {
	PTC_RUNS_SEEN,	   /* the trace has the branch, and the entry is connected */
	PTC_RUNS_POSSIBLE, /* the same by the code only */
	PTC_RUNS_TARGET,   /* the direct branch at the source has another target */
	PTC_RUNS_SOURCE,   /* no branch at the source */
	PTC_RUNS_TYPE,	   /* the branch at the source has another type */
	PTC_RUNS_LINK,	   /* no code leads from the older entry to this one */
	/* Not judged: */
	PTC_RUNS_UNTRACED, /* an end in the kernel */
	PTC_RUNS_NO_FILE,  /* in no file with a build-id that the other run has mapped */
	PTC_RUNS_NO_CODE,  /* the code is missing, or was replaced */
	PTC_RUNS_KERNEL,   /* not connected, but the kernel may have run in between */
	PTC_RUNS_VERDICTS
};

/* Returns "in the trace", "possible", ...; static; "?" for an unknown value. */
PTC_API const char *ptc_runs_verdict_name(enum ptc_runs_verdict v);

/* Returns whether an entry with the verdict @v was compared. */
static inline bool ptc_runs_is_judged(enum ptc_runs_verdict v)
{
	return v < PTC_RUNS_UNTRACED;
}

/* Returns whether the verdict @v is an error of the entry. */
static inline bool ptc_runs_is_wrong(enum ptc_runs_verdict v)
{
	return v > PTC_RUNS_POSSIBLE && ptc_runs_is_judged(v);
}

/* The verdict on a whole stack. */
enum ptc_runs_stack {
	PTC_RUNS_STACK_EXACT,	   /* the trace has all its branches, one after the other */
	PTC_RUNS_STACK_POSSIBLE,   /* no such place, but each step agrees with the code */
	PTC_RUNS_STACK_IMPOSSIBLE, /* an entry is wrong */
	PTC_RUNS_STACK_UNKNOWN,	   /* no entry is wrong, but some are not judged */
	PTC_RUNS_STACK_SKIPPED,	   /* a call stack, or a stack of too many entries */
	PTC_RUNS_STACKS
};

/* Returns "exact", "possible", ...; static; "?" for an unknown value. */
PTC_API const char *ptc_runs_stack_name(enum ptc_runs_stack s);

/* An entry of a branch stack. */
struct ptc_runs_entry {
	const struct ptc_branch *branch; /* as recorded */
	uint8_t verdict;		 /* enum ptc_runs_verdict */
};

struct ptc_runs_own;

/*
 * A sample, with everything it points to lent for the call of on_sample. Later versions may append
 * members to this struct and to struct ptc_runs_entry. So do not copy these structs, and do no
 * arithmetic on pointers to them.
 */
struct ptc_runs_sample {
	const struct ptc_sample *sample;
	uint64_t off;		   /* offset of its record: ptc_file_place */
	struct ptc_item where;	   /* process and time, to find names: ptc_decode_symbol */
	size_t n;		   /* entries, without unused ones: ptc_runs_entry */
	enum ptc_runs_stack stack; /* SKIPPED: the entries have no verdicts */
	bool has_ip;		   /* the sample's ip could be compared with the newest entry */
	bool leads_to_ip;	   /* code leads from the newest entry to the ip */
	const struct ptc_runs_own *own; /* for the library */
};

/* Returns entry @i of a judged sample; 0 is the newest. NULL: SKIPPED, or there is none. */
PTC_API const struct ptc_runs_entry *ptc_runs_entry(const struct ptc_runs_sample *s, size_t i);

/* Initialize with PTC_RUNS_OPTS_INIT. The caller sets a, b and on_sample. */
struct ptc_runs_opts {
	size_t size;	      /* sizeof(struct ptc_runs_opts) */
	struct ptc_decode *a; /* lent; with the stacks; with opts.untraced; not run */
	struct ptc_decode *b; /* lent; with the trace; without opts.runs; not run yet */
	uint64_t first, last; /* numbers of samples in order of time, from 1; both included */
	/* Called for each sample, in order of time. Returns false if out of memory. */
	bool (*on_sample)(void *ctx, const struct ptc_runs_sample *s);
	void *ctx;
};

/* The defaults: all samples. */
#ifdef __cplusplus
static inline struct ptc_runs_opts ptc_runs_opts_init(void)
{
	struct ptc_runs_opts ret = {};

	ret.size = sizeof(ret);
	ret.first = 1;
	ret.last = UINT64_MAX;
	return ret;
}
#define PTC_RUNS_OPTS_INIT ptc_runs_opts_init()
#else
/* clang-format off */
#define PTC_RUNS_OPTS_INIT \
	{ \
		.size = sizeof(struct ptc_runs_opts), .first = 1, .last = UINT64_MAX \
	}
/* clang-format on */
#endif

/* Totals of both recordings. Initialize with PTC_RUNS_TOTAL_INIT. */
struct ptc_runs_total {
	size_t size;		    /* sizeof(struct ptc_runs_total) */
	uint64_t samples, entries;  /* of the first recording */
	uint64_t branches;	    /* of the trace of the second one */
	uint64_t edges, edges_seen; /* different branches in the stacks; in the trace, too */
	bool traced;		    /* the second recording has a trace */
	bool limited;	   /* some stacks were not searched, or not compared with all code */
	bool many_threads; /* some threads of the trace were not followed */
};

/* No counter is set. */
#ifdef __cplusplus
static inline struct ptc_runs_total ptc_runs_total_init(void)
{
	struct ptc_runs_total ret = {};

	ret.size = sizeof(ret);
	return ret;
}
#define PTC_RUNS_TOTAL_INIT ptc_runs_total_init()
#else
/* clang-format off */
#define PTC_RUNS_TOTAL_INIT \
	{ \
		.size = sizeof(struct ptc_runs_total) \
	}
/* clang-format on */
#endif

/*
 * Decode opts->b, and call on_sample. If *@ret has no samples or no trace, nothing was judged.
 * Without a size in *@ret nothing is set there. PTC_E_NOT_EXIST: the recordings are not of the same
 * program, according to the build-ids of their files. Other errors: as ptc_compare_run.
 */
PTC_API int ptc_runs_compare(const struct ptc_runs_opts *opts, struct ptc_runs_total *ret,
			     struct ptc_err *err);

#ifdef __cplusplus
}
#endif
#endif
