/* SPDX-License-Identifier: MIT */
/*
 * An output file that appears under its path only when complete. Until then the file has no name
 * (O_TMPFILE), so even SIGKILL leaves nothing behind. On file systems without O_TMPFILE it has a
 * temporary name next to the final one (base/temp_name.h). It is renamed at the end and removed on
 * failure. After a SIGKILL the next output in that folder removes it.
 */
#ifndef PTC_BASE_TMPFILE_H
#define PTC_BASE_TMPFILE_H

#include "ptcap/error.h"

struct ptc_tmpfile {
	int fd;	    /* -1: none */
	char *tmp;  /* owned; its temporary name; NULL: none */
	char *path; /* owned; the final path, from ptc_replace_name */
};

#define PTC_TMPFILE_INIT                                                                           \
	{                                                                                          \
		-1, NULL, NULL                                                                     \
	}

/*
 * Create the file in the folder of @path, and remove there what killed processes left
 * (base/temp_name.h). Mode 0600, as perf's, because a recording is confidential. @path may name
 * anything that base/replace.h can replace; it stays until commit. A symbolic link is replaced
 * itself, never followed. Any other existing file is refused.
 */
int ptc_tmpfile_open(struct ptc_tmpfile *t, const char *path, struct ptc_err *err);

/* As ptc_tmpfile_open, but with a temporary name from the start, as without O_TMPFILE. */
int ptc_tmpfile_open_named(struct ptc_tmpfile *t, const char *path, struct ptc_err *err);

/* Open another file in the folder of @t that never gets a name. Returns a descriptor, or -1. */
int ptc_tmpfile_nameless(const struct ptc_tmpfile *t);

/*
 * Close the file and rename it to its path. An existing file is kept as PATH.old (base/replace.h).
 * On failure the temporary file is removed.
 */
int ptc_tmpfile_commit(struct ptc_tmpfile *t, struct ptc_err *err);

/* Remove the file if it was not committed. Accepts PTC_TMPFILE_INIT. */
void ptc_tmpfile_release(struct ptc_tmpfile *t);

#endif
