/* SPDX-License-Identifier: MIT */
/* The kernel's conversion of TSC ticks to its clock, read from the mmap page of any event. */
#ifndef PTC_CAPTURE_HOST_TIMEPAGE_H
#define PTC_CAPTURE_HOST_TIMEPAGE_H

#include <stdbool.h>

#include "auxtrace/record/auxtrace_info.h"

#include <linux/perf_event.h>

/*
 * Reads a consistent set of shift, mult and zero, even while the kernel writes them. Returns false
 * and leaves *@ret unchanged if the kernel does not offer them (cap_user_time_zero), or if the
 * values are invalid.
 */
bool ptc_timepage_read(const volatile struct perf_event_mmap_page *page, struct ptc_time_conv *ret);

#endif
