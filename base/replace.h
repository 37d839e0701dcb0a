/* SPDX-License-Identifier: MIT */
/*
 * A finished file or folder takes a name; what had it is kept as NAME.old, as
 * perf does. A symbolic link is renamed itself: the file that it leads to stays
 * as it is, under its own name. A folder is replaced only if it is a recording: it holds nothing
 * but what perf.data folders have. What was NAME.old before is gone then.
 */
#ifndef PTC_BASE_REPLACE_H
#define PTC_BASE_REPLACE_H

#include <stdbool.h>

#include "ptcap/error.h"

/*
 * The name that an output asked for as @path replaces: @path without slashes at its end. A symbolic
 * link is not followed: the link itself is replaced. Caller frees *@ret. PTC_E_USAGE: no such name
 * can be given ("", or "." or ".." at the end).
 */
int ptc_replace_name(const char *path, char **ret, struct ptc_err *err);

/*
 * May @path (of ptc_replace_name) be replaced later: nothing, a regular file, a recording, or a
 * symbolic link to a file, to a folder or to nothing? And so its .old? PTC_E_USAGE; PTC_E_PERM
 * where, in a sticky folder, another user owns it.
 */
int ptc_replace_check(const char *path, struct ptc_err *err);

/*
 * Rename @tmp, in the same folder, to @path. 0, or -1 and errno; then @path is what it was.
 * SIGKILL at any moment: @path is what it was or what @tmp was, whole, and what @path was has a
 * name that is no temporary one. Exceptions: file systems without RENAME_EXCHANGE (doc/adr/0024).
 */
int ptc_replace(const char *tmp, const char *path);

/* The same with a file that has no name (O_TMPFILE). No temporary name is left at any moment, with
 * the same exceptions. */
int ptc_replace_nameless(int fd, const char *path);

/* Remove a file, or a folder that is a recording, or the beginning of one. 0, or -1 and errno. */
int ptc_replace_remove(const char *path);

#endif
