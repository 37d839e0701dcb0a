/* SPDX-License-Identifier: MIT */
/* The sandbox of commands that read a recording: seccomp and Landlock (doc/adr/0026). */
#ifndef PTC_CLI_SANDBOX_H
#define PTC_CLI_SANDBOX_H

#include <stdbool.h>

struct ptc_sandbox {
	bool off;	    /* --no-sandbox */
	bool finds_code;    /* may ask the servers that DEBUGINFOD_URLS names */
	const char *output; /* the name of a file or folder that is written; NULL, "-": none */
};

/*
 * Call it before a recording is opened, while there is one thread, and after everything is started
 * that needs more: the pager. Returns 0, or the exit code of a failure that was said. A kernel that
 * has no seccomp or no Landlock, or a container that forbids it, is no failure. A build with a
 * sanitizer has no sandbox: sanitizers trace themselves and start programs.
 */
int ptc_sandbox_enter(const struct ptc_sandbox *s);

/* The lines of --help. */
#define PTC_SANDBOX_HELP                                                                           \
	"      --no-sandbox      Read the recording without seccomp and Landlock, which\n"         \
	"                        protect against hostile recordings (SECURITY.md).\n"

#endif
