/* SPDX-License-Identifier: MIT */
/* A seccomp filter that allows only the system calls of a command that reads a recording. */
#ifndef PTC_CLI_COMMON_SECCOMP_FILTER_H
#define PTC_CLI_COMMON_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

struct ptc_syscalls {
	bool writes;  /* creates, renames and removes files by name */
	bool fetches; /* opens network connections, loads libraries, and writes as with @writes */
	bool serves;  /* accepts connections at a socket that listens already */
	/*
	 * Landlock restricts where openat2(2) may write. Its flags are in memory, invisible to
	 * filters. So without Landlock, openat2(2) is forbidden for commands that write nothing.
	 */
	bool confined;
};

enum { PTC_SYSCALLS_MAX = 1024 }; /* maximum instructions of a filter */

/*
 * Write the filter to @code, an array of PTC_SYSCALLS_MAX instructions. Returns their number.
 * Allowed calls: seccomp(2), "SECCOMP_RET_ALLOW". Other harmless calls fail with an errno. Calls
 * that only an attack makes raise SIGSYS (SECCOMP_RET_TRAP).
 */
size_t ptc_syscalls_filter(const struct ptc_syscalls *o, struct sock_filter *code);

/* Returns the name of a call that raises SIGSYS, or NULL. Async-signal-safe. */
const char *ptc_syscalls_name(int nr);

#endif
