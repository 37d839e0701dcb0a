/* SPDX-License-Identifier: MIT */
/* The first lines of `ptcap crash show`, for the page of `ptcap view`. */
#ifndef PTC_CLI_VIEW_CRASH_ANSWER_LINES_H
#define PTC_CLI_VIEW_CRASH_ANSWER_LINES_H

#include <stdint.h>

#include "cli/crash/screen.h"
#include "ptcap/decode.h"
#include "ptcap/error.h"

struct ptc_crash_lines {
	struct ptc_screen screen; /* owned; no lines: the recording has no crash */
	int32_t tid;		  /* thread that was killed */
};

/*
 * Explain the crash in the recording @input. Starts zeroed; caller releases @ret->screen, also on
 * failure. A recording without a crash is no failure.
 */
int ptc_crash_lines_read(struct ptc_crash_lines *ret, const char *input,
			 const struct ptc_code_opts *code, bool mangled, struct ptc_err *err);

#endif
