/* SPDX-License-Identifier: MIT */
/*
 * A recording's branch stacks held against its trace, sample by sample, while it is replayed: when
 * the trace has come so far that a sample's place is behind it, the sample is judged.
 */
#ifndef PTC_DECODE_COMPARE_H
#define PTC_DECODE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auxtrace/reader.h"
#include "decode/align.h"
#include "ptcap/decode.h"

#define PTC_COMPARE_SLACK_NS UINT64_C(2000)

/* Why a sample's entries were not judged. */
enum ptc_compare_skip {
	PTC_COMPARE_JUDGED,
	PTC_COMPARE_NO_TIME,   /* the sample has no time or no thread */
	PTC_COMPARE_NO_THREAD, /* its thread is not in the trace by then */
	PTC_COMPARE_STACK,     /* call-stack mode, of the kernel */
	PTC_COMPARE_LONG,      /* more entries than PTC_ALIGN_ENTRIES */
	PTC_COMPARE_FORGOTTEN, /* there were too many threads since its own did anything */
	PTC_COMPARE_SKIPS
};

/* In words. */
const char *ptc_compare_skip_name(enum ptc_compare_skip skip);

/* A sample, lent for the call. */
struct ptc_compare_sample {
	const struct ptc_sample *sample;
	const struct ptc_file_attr *attr;
	uint64_t off; /* of its record */
	enum ptc_compare_skip skip;
	const struct ptc_branch *entries; /* the newest first */
	size_t n;
	const struct ptc_align_entry *verdicts; /* n; if it was judged */
	const struct ptc_step *steps;		/* that the verdicts name */
	struct ptc_align_result place;
	/* The sample's process and moment, for names: ptc_decode_symbol. */
	struct ptc_item where;
};

struct ptc_compare_opts {
	uint64_t slack_ns;    /* by which times may be wrong */
	uint64_t first, last; /* samples by their numbers in order of time, from 1; both included */
	struct ptc_decode *d; /* of a recording, opts.untraced, not opts.runs; not run yet */
	/* Each sample, in order of time. False: out of memory. */
	bool (*on_sample)(void *ctx, const struct ptc_compare_sample *s);
	void *ctx;
};

/* Of a file, whether or not it has a trace. */
struct ptc_compare_total {
	uint64_t samples, entries; /* with branch stacks; in those */
	uint64_t forgotten;	   /* so often a thread's transfers were: ptc_recent */
	bool traced;
};

/*
 * If *@ret has no samples, or no trace, nothing was replayed. Errors as ptc_decode_run;
 * PTC_E_FORMAT also for a sample that its event does not describe.
 */
int ptc_compare_run(const struct ptc_compare_opts *opts, struct ptc_compare_total *ret,
		    struct ptc_err *err);

#endif
