/* SPDX-License-Identifier: MIT */
/* Landlock: this process may write below some folders, and nowhere else. Reading is free. */
#ifndef PTC_CLI_LANDLOCK_H
#define PTC_CLI_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>

struct ptc_landlock {
	const char *const *folders; /* files in them are made, written, renamed and removed */
	size_t nfolders;	    /* a folder that is missing is left out */
	bool fetches;		    /* connects to servers */
};

/* The version of the kernel's Landlock; 0: it has none, or a container forbids it. */
int ptc_landlock_version(void);

/*
 * Confines the calling thread, and those it starts. @version: as ptc_landlock_version has it, at
 * least 1. PR_SET_NO_NEW_PRIVS must be set. 0, or -1 and errno.
 */
int ptc_landlock_enter(const struct ptc_landlock *l, int version);

#endif
