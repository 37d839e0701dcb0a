/* SPDX-License-Identifier: MIT */
/*
 * Samples with call chains made from a trace, as the event "instructions" would have recorded them,
 * but without missing frames: each PERIOD-th instruction of a thread, with the return addresses of
 * its callers.
 */
#ifndef PTC_CLI_CONVERT_CHAIN_SAMPLES_H
#define PTC_CLI_CONVERT_CHAIN_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "ptcap/decode.h"
#include "ptcap/sample.h"

enum {
	PTC_CHAINS_PERIOD = 10000,
	PTC_CHAINS_DEPTH = 127, /* the kernel's default for perf's call chains */
};

struct ptc_chains_opts {
	uint64_t period;      /* instructions of a thread per sample; not 0 */
	uint64_t id;	      /* of the event */
	bool user_only;	      /* the trace has no kernel */
	struct ptc_decode *d; /* opened with opts.lengths and opts.icount; not run yet */
	/*
	 * Takes a sample and the misc of its record, in order of time. Returns non-zero with *err
	 * set to stop.
	 */
	int (*put)(void *ctx, uint16_t misc, const struct ptc_sample *s, struct ptc_err *err);
	void *ctx;
};

/* Returns the attr of the samples' event. */
struct perf_event_attr ptc_chains_attr(const struct ptc_chains_opts *opts);

/*
 * Runs the decoder. Errors as ptc_decode_run(), or those of put. PTC_E_NOT_EXIST: the trace has no
 * times.
 */
int ptc_chains_run(const struct ptc_chains_opts *opts, struct ptc_err *err);

#endif
