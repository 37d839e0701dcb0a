/* SPDX-License-Identifier: MIT */
/*
 * Temporary names beside an output: ".ptcap-tmp-XXXXXX". A folder under construction has one, and a
 * file has one where the file system has no O_TMPFILE or cannot exchange names. The process that
 * makes such a name holds a lock (flock) on it. A killed process leaves the name without the lock,
 * and the next output in that folder removes it (doc/adr/0024).
 */
#ifndef PTC_BASE_TEMP_NAME_H
#define PTC_BASE_TEMP_NAME_H

/*
 * Create a file (mode 0600) or a folder (mode 0700) in the folder of @path. Returns a descriptor,
 * which holds the lock until the caller closes it; or -1 and errno. Caller frees *@ret, the name.
 */
int ptc_hidden_file(const char *path, char **ret);
int ptc_hidden_folder(const char *path, char **ret);

/*
 * Lock the nameless file @fd, and give it a temporary name in the folder of @path. Returns 0, or -1
 * and errno. Caller frees *@ret, the name.
 */
int ptc_hidden_link(int fd, const char *path, char **ret);

/* Give the nameless file @fd the name @name, which must not exist. Returns 0, or -1 and errno. */
int ptc_hidden_give_name(int fd, const char *name);

/*
 * Remove temporary names left by killed processes of this user in the folder of @path. Locked names
 * stay.
 */
void ptc_hidden_sweep(const char *path);

#endif
