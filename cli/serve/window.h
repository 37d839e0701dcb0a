/* SPDX-License-Identifier: MIT */
/* Windows of a recording for the page of `ptcap view --serve`. README.md has their bytes. */
#ifndef PTC_CLI_SERVE_WINDOW_H
#define PTC_CLI_SERVE_WINDOW_H

#include <stdint.h>

#include "base/buf.h"
#include "cli/serve/served_recording.h"

enum { PTC_WINDOW_PIXELS = 16384 }; /* at most */

struct ptc_window_ask {
	int axis;	      /* 0 instructions, 1 time */
	uint64_t from, to;    /* places on it; from <= to */
	uint32_t pixels;      /* 1 to PTC_WINDOW_PIXELS; calls below a pixel are merged */
	uint32_t first, last; /* numbers of threads */
	bool branches;	      /* single branches, too */
};

/* Append a window to @ret. */
int ptc_window_put(struct ptc_served_recording *s, const struct ptc_window_ask *ask,
		   struct ptc_buf *ret, struct ptc_err *err);

#endif
