/* SPDX-License-Identifier: MIT */
/*
 * The sampling event, next to the tracing event. For AUX samples the trace goes into a ring in
 * overwrite mode that is never read. Each sample contains its newest bytes (PERF_SAMPLE_AUX). The
 * sampling event is in a group that the tracing event leads. For branch stacks
 * (PERF_SAMPLE_BRANCH_STACK) samples contain the CPU's last branch records. Without AUX samples
 * these events are in no group, so the trace works even if no counter is free for them.
 */
#ifndef PTC_CAPTURE_PERF_SAMPLER_H
#define PTC_CAPTURE_PERF_SAMPLER_H

#include <stdbool.h>

#include "capture/perf/event.h"
#include "ptcap/capture.h"

/* Returns true if @o asks for a sampling event. */
bool ptc_sampler_wanted(const struct ptc_record_opts *o);

/*
 * Parses opts->sampler as an event that can sample what @tracer traces. Sets its period or
 * frequency, branch_sample_type and aux_sample_size. @root is a prefix for sysfs paths.
 * PTC_E_USAGE: the two events do not fit together. Other errors: as for ptc_event_parse.
 */
int ptc_sampler_parse(struct ptc_event *e, const struct ptc_record_opts *opts,
		      const struct ptc_event *tracer, const char *root, struct ptc_err *err);

/* Returns the size of the smallest AUX ring for samples of @size bytes. */
uint64_t ptc_sampler_ring(uint64_t size);

#endif
