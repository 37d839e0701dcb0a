/* SPDX-License-Identifier: MIT */
#ifndef PTC_CLI_VIEW_VIEW_MOMENT_H
#define PTC_CLI_VIEW_VIEW_MOMENT_H

#include <stdint.h>

/* A place on both axes: instructions of the thread, and ns. */
struct ptc_view_moment {
	uint64_t insns, time_ns;
};

#endif
