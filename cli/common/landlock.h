/* SPDX-License-Identifier: MIT */
/* Landlock: restrict writing of this process to some folders. Reading is not restricted. */
#ifndef PTC_CLI_COMMON_LANDLOCK_H
#define PTC_CLI_COMMON_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>

struct ptc_landlock {
	/* Files in these can be created, written, renamed and removed. */
	const char *const *folders;
	size_t nfolders; /* missing folders are skipped */
	bool fetches;	 /* may connect to servers */
};

/* Returns the version of the kernel's Landlock; 0: none, or forbidden by a container. */
int ptc_landlock_version(void);

/*
 * Restrict the calling thread, and threads it starts. @version: from ptc_landlock_version, at least
 * 1. PR_SET_NO_NEW_PRIVS must be set. Returns 0, or -1 and errno.
 */
int ptc_landlock_enter(const struct ptc_landlock *l, int version);

#endif
