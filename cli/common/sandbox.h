/* SPDX-License-Identifier: MIT */
/* The sandbox of commands that read a recording: seccomp and Landlock (doc/adr/0026). */
#ifndef PTC_CLI_COMMON_SANDBOX_H
#define PTC_CLI_COMMON_SANDBOX_H

#include <stdbool.h>

struct ptc_sandbox {
	bool off;	    /* --no-sandbox */
	bool finds_code;    /* may ask the servers in DEBUGINFOD_URLS */
	bool serves;	    /* answers at a socket that listens already */
	const char *output; /* name of the output file or folder; NULL, "-": none */
};

/*
 * Enter the sandbox. Must be called before a recording is opened, with a single thread, and after
 * starting the pager. Returns 0, or an exit code after a message. Missing seccomp or Landlock, in
 * the kernel or in a container, is not a failure. Builds with a sanitizer have no sandbox, because
 * sanitizers trace their own process and start programs.
 */
int ptc_sandbox_enter(const struct ptc_sandbox *s);

#endif
