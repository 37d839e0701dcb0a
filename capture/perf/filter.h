/* SPDX-License-Identifier: MIT */
/* Formats address filters for PERF_EVENT_IOC_SET_FILTER. */
#ifndef PTC_CAPTURE_PERF_FILTER_H
#define PTC_CAPTURE_PERF_FILTER_H

#include <stdbool.h>

#include "capture/perf/event.h"
#include "ptcap/capture.h"

/*
 * Checks whether @e supports the filters of @o. The kernel itself only returns EINVAL or
 * EOPNOTSUPP. PTC_E_UNSUPPORTED: the PMU cannot. PTC_E_USAGE: the filters conflict with other
 * options in @o.
 */
int ptc_filter_check(const struct ptc_record_opts *o, const struct ptc_event *e,
		     struct ptc_err *err);

/*
 * Writes all filters in the kernel's syntax (kernel/events/core.c, perf_event_parse_addr_filter):
 * "filter 0x1140/0x42@/bin/true,stop 0x2000/0x10@/bin/true". Caller frees *@ret.
 */
int ptc_filter_text(const struct ptc_record_opts *o, char **ret, struct ptc_err *err);

/* Returns true if a filter is for kernel code. */
bool ptc_filter_kernel(const struct ptc_record_opts *o);

#endif
