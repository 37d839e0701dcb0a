/* SPDX-License-Identifier: MIT */
/*
 * AUX samples: the trace goes round in a ring that nobody reads, and each sample of
 * another event brings its newest bytes (PERF_SAMPLE_AUX). That event is in a group
 * which the one that traces leads.
 */
#ifndef PTC_CAPTURE_PERF_SAMPLER_H
#define PTC_CAPTURE_PERF_SAMPLER_H

#include "capture/perf/event.h"
#include "ptcap/capture.h"

/*
 * opts->sampler as an event that can sample what @tracer traces, its attr with period and
 * aux_sample_size; @root is that of sysfs. PTC_E_USAGE: these two cannot; or as
 * ptc_event_parse.
 */
int ptc_sampler_parse(struct ptc_event *e, const struct ptc_record_opts *opts,
		      const struct ptc_event *tracer, const char *root, struct ptc_err *err);

/* The smallest AUX ring that holds a sample of @size bytes. */
uint64_t ptc_sampler_ring(uint64_t size);

#endif
