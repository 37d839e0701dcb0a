/* SPDX-License-Identifier: MIT */
/*
 * Compares a recording's branch stacks with its trace, sample by sample, during the decode. A
 * sample is judged when the decode has passed the sample's place.
 */
#ifndef PTC_DECODE_LBR_COMPARE_H
#define PTC_DECODE_LBR_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auxtrace/reader/reader.h"
#include "decode/lbr/align.h"
#include "ptcap/decode.h"

#define PTC_COMPARE_SLACK_NS UINT64_C(2000)

/* Why a sample's entries were not judged. */
enum ptc_compare_skip {
	PTC_COMPARE_JUDGED,
	PTC_COMPARE_NO_TIME,   /* the sample has no time or no thread */
	PTC_COMPARE_NO_THREAD, /* the trace has nothing of its thread up to then */
	PTC_COMPARE_STACK,     /* call-stack mode, and the event includes the kernel */
	PTC_COMPARE_LONG,      /* more entries than PTC_ALIGN_ENTRIES */
	/* its branches were dropped: too many other threads were active since */
	PTC_COMPARE_FORGOTTEN,
	PTC_COMPARE_SKIPS
};

/* Returns the reason in words. */
const char *ptc_compare_skip_name(enum ptc_compare_skip skip);

/* A sample, lent for the call. */
struct ptc_compare_sample {
	const struct ptc_sample *sample;
	const struct ptc_file_attr *attr;
	uint64_t off; /* offset of its record */
	enum ptc_compare_skip skip;
	const struct ptc_branch *entries; /* newest first */
	size_t n;
	const struct ptc_align_entry *verdicts; /* n of them, if the sample was judged */
	const struct ptc_step *steps;		/* the steps that the verdicts refer to */
	struct ptc_align_result place;
	/* Process and time of the sample, to find names: ptc_decode_symbol. */
	struct ptc_item where;
};

struct ptc_compare_opts {
	uint64_t slack_ns;    /* how much times may be wrong */
	uint64_t first, last; /* numbers of samples in order of time, from 1; both included */
	/* decoder of a recording, with opts.untraced, without opts.runs; not run yet */
	struct ptc_decode *d;
	/* Called for each sample, in order of time. Returns false if out of memory. */
	bool (*on_sample)(void *ctx, const struct ptc_compare_sample *s);
	void *ctx;
};

/* Totals of a file, with or without a trace. */
struct ptc_compare_total {
	uint64_t samples, entries; /* samples with branch stacks; entries of these stacks */
	uint64_t forgotten; /* how often a thread's branches were dropped: ptc_thread_history */
	bool traced;
};

/*
 * If *@ret has no samples or no trace, nothing was decoded. Errors: as ptc_decode_run. PTC_E_FORMAT
 * also if a sample does not match the description of its event.
 */
int ptc_compare_run(const struct ptc_compare_opts *opts, struct ptc_compare_total *ret,
		    struct ptc_err *err);

#endif
