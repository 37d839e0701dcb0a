/* SPDX-License-Identifier: MIT */
/* The kernel's own conversion of TSC ticks to its clock, as the mmap page of any event has it. */
#ifndef PTC_CAPTURE_TIMEPAGE_H
#define PTC_CAPTURE_TIMEPAGE_H

#include <stdbool.h>

#include "auxtrace/pt_info.h"

#include <linux/perf_event.h>

/*
 * Read shift, mult and zero as they belong together, whoever writes them meanwhile. False, and
 * *@ret as it was: the kernel does not offer them (cap_user_time_zero), or they are none that a
 * recording could have.
 */
bool ptc_timepage_read(const volatile struct perf_event_mmap_page *page, struct ptc_time_conv *ret);

#endif
