/* SPDX-License-Identifier: MIT */
/*
 * Fills perf_event_attr for the events of a recording: the tracing event, the sampling event, and
 * the event for sideband records.
 */
#ifndef PTC_CAPTURE_PERF_EVENT_ATTRS_H
#define PTC_CAPTURE_PERF_EVENT_ATTRS_H

#include <stdbool.h>

#include "capture/perf/event_set.h"
#include "ptcap/capture.h"

/* Returns true if the targets are CPUs or a cgroup, not single tasks. */
bool ptc_attrs_by_cpu(const struct ptc_record_opts *o);

/*
 * Sets s->attr, s->nevents and s->grouped from s->event, and from @sampler if @opts ask for one.
 * The ring sizes must be set before.
 */
void ptc_attrs_fill(struct ptc_set *s, const struct ptc_record_opts *opts,
		    const struct ptc_event *sampler);

#endif
