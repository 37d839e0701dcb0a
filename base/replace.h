/* SPDX-License-Identifier: MIT */
/*
 * A finished file or folder takes a name; what had it is kept as NAME.old, as
 * perf does. A folder is replaced only if it is a recording: it holds nothing
 * but what perf.data folders have. What was NAME.old before is gone then.
 */
#ifndef PTC_BASE_REPLACE_H
#define PTC_BASE_REPLACE_H

#include <stdbool.h>

#include "ptcap/error.h"

/*
 * May @path (resolved) be replaced later: nothing, a regular file, or a recording, and so its
 * .old? PTC_E_USAGE; PTC_E_PERM where, in a sticky folder, it is somebody else's.
 */
int ptc_replace_check(const char *path, struct ptc_err *err);

/* Rename @tmp, in the same folder, to @path. 0, or -1 and errno; then @path is what it was. */
int ptc_replace(const char *tmp, const char *path);

/* Remove a file, or a folder that is a recording, or the beginning of one. 0, or -1 and errno. */
int ptc_replace_remove(const char *path);

#endif
