/* SPDX-License-Identifier: MIT */
/* A seccomp filter: the system calls that a command needs that reads a recording, and no others. */
#ifndef PTC_CLI_SYSCALLS_H
#define PTC_CLI_SYSCALLS_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

struct ptc_syscalls {
	bool writes;  /* creates, renames and removes files: an output by name */
	bool fetches; /* opens network connections, loads libraries, writes as @writes says */
	/*
	 * Landlock says where openat2(2) may write. Its flags are in memory, where no filter sees
	 * them: without Landlock a command that writes nothing does without openat2(2), too.
	 */
	bool confined;
};

enum { PTC_SYSCALLS_MAX = 1024 }; /* instructions of a filter */

/*
 * Writes the filter into @code, which has room for PTC_SYSCALLS_MAX instructions, and returns their
 * number. What the filter allows: seccomp(2), "SECCOMP_RET_ALLOW". A harmless call that is not
 * allowed fails with an errno, one that nothing but an attack makes is SIGSYS (SECCOMP_RET_TRAP).
 */
size_t ptc_syscalls_filter(const struct ptc_syscalls *o, struct sock_filter *code);

/* The name of a call that is SIGSYS, or NULL. Async-signal-safe. */
const char *ptc_syscalls_name(int nr);

#endif
