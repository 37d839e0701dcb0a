/* SPDX-License-Identifier: MIT */
/* Address filters, as PERF_EVENT_IOC_SET_FILTER takes them. */
#ifndef PTC_CAPTURE_PERF_FILTER_H
#define PTC_CAPTURE_PERF_FILTER_H

#include <stdbool.h>

#include "capture/perf/event.h"
#include "ptcap/capture.h"

/*
 * Can @e filter so? The kernel says EINVAL or EOPNOTSUPP, and no more. PTC_E_UNSUPPORTED: the PMU
 * cannot; PTC_E_USAGE: it goes not together with what else @o has.
 */
int ptc_filter_check(const struct ptc_record_opts *o, const struct ptc_event *e,
		     struct ptc_err *err);

/*
 * All of them in the kernel's words (kernel/events/core.c, perf_event_parse_addr_filter):
 * "filter 0x1140/0x42@/bin/true,stop 0x2000/0x10@/bin/true". *@ret is malloc'ed.
 */
int ptc_filter_text(const struct ptc_record_opts *o, char **ret, struct ptc_err *err);

/* Is one of them of the kernel's own code? */
bool ptc_filter_kernel(const struct ptc_record_opts *o);

#endif
