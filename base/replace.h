/* SPDX-License-Identifier: MIT */
/*
 * Renaming a finished file or folder to its final path. An existing file is kept as NAME.old, as
 * perf does. A symbolic link is itself renamed, and its target is not changed. A folder is replaced
 * only if it is a recording: it has only files that perf.data folders have, or only files of the
 * uftrace folders that ptcap writes, or only tables that `ptcap decode --format arrow` writes. An
 * earlier NAME.old is removed.
 */
#ifndef PTC_BASE_REPLACE_H
#define PTC_BASE_REPLACE_H

#include <stdbool.h>

#include "ptcap/error.h"

/* ID of the session in a uftrace folder that ptcap writes. Its map tells whose folder it is. */
#define PTC_UFTRACE_SESSION "0000000070746361"

/*
 * Get the name that an output to @path replaces: @path without trailing slashes. A symbolic link is
 * not followed: the link itself is replaced. Caller frees *@ret. PTC_E_USAGE: the name is invalid
 * ("", or "." or ".." at the end).
 */
int ptc_replace_name(const char *path, char **ret, struct ptc_err *err);

/*
 * Check whether @path (from ptc_replace_name) and its .old can be replaced. Allowed: no file, a
 * regular file, a recording, a symbolic link to a file or folder, a dangling link. PTC_E_USAGE:
 * anything else. PTC_E_PERM: another user owns it, in a sticky folder.
 */
int ptc_replace_check(const char *path, struct ptc_err *err);

/* As ptc_replace_check, for an output that is a folder: @path may also be an empty folder. */
int ptc_replace_check_folder(const char *path, struct ptc_err *err);

/*
 * Rename @tmp, in the same folder, to @path. If @tmp is a folder, it takes the place of an empty
 * folder at @path. Returns 0, or -1 and errno, with @path unchanged.
 *
 * After SIGKILL at any moment, @path is either the old or the new file, complete. The old file then
 * has a name that is not a temporary one. Exceptions: file systems without RENAME_EXCHANGE
 * (doc/adr/0024).
 */
int ptc_replace(const char *tmp, const char *path);

/*
 * As ptc_replace, for a nameless file (O_TMPFILE). It leaves no temporary name at any moment, with
 * the same exceptions.
 */
int ptc_replace_nameless(int fd, const char *path);

/*
 * Remove a file, a recording folder, or an incomplete recording folder. Returns 0, or -1 and errno.
 */
int ptc_replace_remove(const char *path);

#endif
