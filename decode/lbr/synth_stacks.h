/* SPDX-License-Identifier: MIT */
/*
 * Branch stacks made from a trace, as samples of an event that counts the branches its filter
 * passes. They are what the hardware would have recorded, without its errors.
 */
#ifndef PTC_DECODE_LBR_SYNTH_STACKS_H
#define PTC_DECODE_LBR_SYNTH_STACKS_H

#include <stdint.h>

#include <linux/perf_event.h>

#include "base/cursor.h"
#include "ptcap/branchsel.h"
#include "ptcap/decode.h"

enum { PTC_STACKS_DEPTH = 32, PTC_STACKS_DEPTH_MAX = 512, PTC_STACKS_PERIOD = 1000 };

/* Flags allowed in opts->sel. */
#define PTC_STACKS_SEL                                                                             \
	(PTC_BRANCHSEL_MADE &                                                                      \
	 ~(uint64_t)(PERF_SAMPLE_BRANCH_PRIV_SAVE | PERF_SAMPLE_BRANCH_HW_INDEX |                  \
		     PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES))

struct ptc_stacks_opts {
	uint32_t depth;	      /* maximum entries: 1 to PTC_STACKS_DEPTH_MAX */
	uint64_t period;      /* branches of a thread per sample; not 0 */
	uint64_t sel;	      /* subset of PTC_STACKS_SEL */
	uint64_t id;	      /* of the event */
	struct ptc_decode *d; /* opened, without opts.runs; not run yet */
	/* Takes a SAMPLE record, in order of time. Returns non-zero with *err set to stop. */
	int (*put)(void *ctx, struct ptc_cur rec, struct ptc_err *err);
	void *ctx;
};

/*
 * Returns the attr of an event whose samples are made from a trace: each @period events of the
 * PERF_COUNT_HW_* @config, with address, thread, time, CPU and @sample_type (PERF_SAMPLE_*).
 */
struct perf_event_attr ptc_synth_attr(uint64_t config, uint64_t period, uint64_t sample_type);

/* Returns the attr of the samples' event. */
struct perf_event_attr ptc_stacks_attr(const struct ptc_stacks_opts *opts);

/*
 * Runs the decoder. Errors as ptc_decode_run(), or those of put. PTC_E_NOT_EXIST: the trace has no
 * times.
 */
int ptc_stacks_run(const struct ptc_stacks_opts *opts, struct ptc_err *err);

#endif
