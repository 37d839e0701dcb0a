/* SPDX-License-Identifier: MIT */
/*
 * The event that samples, beside the one that traces. AUX samples: the trace goes round in a ring
 * that nobody reads, and each sample brings its newest bytes (PERF_SAMPLE_AUX); the event is in a
 * group which the one that traces leads. Branch stacks (PERF_SAMPLE_BRANCH_STACK): the last
 * branches that the CPU has recorded by itself; alone they are in no group, so that what has no
 * counter left for them is traced all the same.
 */
#ifndef PTC_CAPTURE_PERF_SAMPLER_H
#define PTC_CAPTURE_PERF_SAMPLER_H

#include <stdbool.h>

#include "capture/perf/event.h"
#include "ptcap/capture.h"

/* Does @o ask for one? */
bool ptc_sampler_wanted(const struct ptc_record_opts *o);

/*
 * opts->sampler as an event that can sample what @tracer traces, its attr with period or
 * frequency, branch_sample_type and aux_sample_size; @root is that of sysfs. PTC_E_USAGE: these two
 * cannot; or as ptc_event_parse.
 */
int ptc_sampler_parse(struct ptc_event *e, const struct ptc_record_opts *opts,
		      const struct ptc_event *tracer, const char *root, struct ptc_err *err);

/* The smallest AUX ring that holds a sample of @size bytes. */
uint64_t ptc_sampler_ring(uint64_t size);

#endif
