/* SPDX-License-Identifier: MIT */
/*
 * Samples made from a trace, as samples of an event that counts branches or instructions. Branch
 * stacks have the branches that the event's filter passes: what the hardware would have recorded,
 * without its errors. ptc_copy_more adds such an event to a copy of the recording.
 */
#ifndef PTCAP_SYNTH_H
#define PTCAP_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "ptcap/branchsel.h"
#include "ptcap/cursor.h"
#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ptc_decode;

/* Defaults and the limit of struct ptc_synth_stacks_opts. */
enum {
	PTC_SYNTH_DEPTH = 32,	   /* entries of a stack */
	PTC_SYNTH_DEPTH_MAX = 512, /* limit of the entries */
	PTC_SYNTH_PERIOD = 1000	   /* branches of a thread per sample */
};

/* Flags allowed in sel of struct ptc_synth_stacks_opts. */
#define PTC_SYNTH_SEL                                                                              \
	(PTC_BRANCHSEL_MADE &                                                                      \
	 ~(uint64_t)(PERF_SAMPLE_BRANCH_PRIV_SAVE | PERF_SAMPLE_BRANCH_HW_INDEX |                  \
		     PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES))

/* Initialize with PTC_SYNTH_STACKS_OPTS_INIT. The caller sets d and put. */
struct ptc_synth_stacks_opts {
	size_t size;	      /* sizeof(struct ptc_synth_stacks_opts) */
	uint32_t depth;	      /* maximum entries: 1 to PTC_SYNTH_DEPTH_MAX */
	uint64_t period;      /* branches of a thread per sample; not 0 */
	uint64_t sel;	      /* subset of PTC_SYNTH_SEL */
	uint64_t id;	      /* of the event: ptc_copy_new_id */
	struct ptc_decode *d; /* lent; opened, without opts.runs; not run yet */
	/*
	 * Takes a SAMPLE record, lent for the call, in order of time. ptc_writer_stored writes it.
	 * Returns non-zero with *err set to stop.
	 */
	int (*put)(void *ctx, struct ptc_cur rec, struct ptc_err *err);
	void *ctx;
};

/* The defaults: the last 32 branches in user space, each 1000 branches of a thread. */
#ifdef __cplusplus
static inline struct ptc_synth_stacks_opts ptc_synth_stacks_opts_init(void)
{
	struct ptc_synth_stacks_opts ret = {};

	ret.size = sizeof(ret);
	ret.depth = PTC_SYNTH_DEPTH;
	ret.period = PTC_SYNTH_PERIOD;
	ret.sel = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	return ret;
}
#define PTC_SYNTH_STACKS_OPTS_INIT ptc_synth_stacks_opts_init()
#else
/* clang-format off */
#define PTC_SYNTH_STACKS_OPTS_INIT \
	{ \
		.size = sizeof(struct ptc_synth_stacks_opts), .depth = PTC_SYNTH_DEPTH, \
		.period = PTC_SYNTH_PERIOD, .sel = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER \
	}
/* clang-format on */
#endif

/*
 * Get the attr of the event that ptc_synth_stacks_run makes samples of. @size: bytes of *@ret,
 * sizeof(struct perf_event_attr) of the caller. Sets ret->size to at most @size. Returns false, and
 * sets nothing, if @size is less than PERF_ATTR_SIZE_VER5, or @opts has no size.
 */
PTC_API bool ptc_synth_stacks_attr(const struct ptc_synth_stacks_opts *opts,
				   struct perf_event_attr *ret, size_t size);

/*
 * Decode opts->d, and make the samples. Returns 0, an error of ptc_decode_run, or the result of
 * put. PTC_E_NOT_EXIST: the trace has no times. PTC_E_USAGE: options without a size, or depth,
 * period or sel out of range. PTC_E_UNSUPPORTED: unknown options of a newer caller.
 */
PTC_API int ptc_synth_stacks_run(const struct ptc_synth_stacks_opts *opts, struct ptc_err *err);

/*
 * Get the attr of any event whose samples are made from a trace: a sample for each @period events
 * of the PERF_COUNT_HW_* @config, with address, thread, time, CPU, period and @sample_type
 * (PERF_SAMPLE_*). @ret, @size and the result: as ptc_synth_stacks_attr. ptc_writer_sample writes
 * such samples.
 */
PTC_API bool ptc_synth_attr(uint64_t config, uint64_t period, uint64_t sample_type,
			    struct perf_event_attr *ret, size_t size);

#ifdef __cplusplus
}
#endif
#endif
