/* SPDX-License-Identifier: MIT */
/* Makes a recording that arrives through a pipe readable more than once. */
#ifndef PTC_CLI_COMMON_STREAM_COPY_H
#define PTC_CLI_COMMON_STREAM_COPY_H

#include "cli/common/sandbox.h"

/*
 * As ptc_sandbox_enter, for a command that reads the recording *@path more than once. If *@path is
 * a FIFO, or "-" and standard input is no regular file, the sandboxed process copies *@path to a
 * nameless temporary file, which becomes standard input, and *@path becomes "-".
 */
int ptc_sandbox_enter_with_copy(const struct ptc_sandbox *s, const char **path);

#endif
