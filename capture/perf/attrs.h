/* SPDX-License-Identifier: MIT */
/*
 * What the events of a recording ask the kernel for: the one that traces, the one that samples its
 * trace, and the one of side records.
 */
#ifndef PTC_CAPTURE_PERF_ATTRS_H
#define PTC_CAPTURE_PERF_ATTRS_H

#include <stdbool.h>

#include "capture/perf/set.h"
#include "ptcap/capture.h"

/* Everything that runs on CPUs, not single tasks. */
bool ptc_attrs_by_cpu(const struct ptc_record_opts *o);

/* Set s->attr, s->nevents and s->grouped: of s->event and, if opts want it, of @sampler. The sizes
 * of the rings are known. */
void ptc_attrs_fill(struct ptc_set *s, const struct ptc_record_opts *opts,
		    const struct ptc_event *sampler);

#endif
