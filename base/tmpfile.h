/* SPDX-License-Identifier: MIT */
/*
 * An output file that appears under its name only when it is whole. Until then
 * it has no name at all (O_TMPFILE), so nothing of it is left even by SIGKILL.
 * Where the file system has no such files it is beside the final one under a
 * temporary name (base/hidden.h), renamed at the end, removed on failure, and by the next
 * output in that folder after a SIGKILL.
 */
#ifndef PTC_BASE_TMPFILE_H
#define PTC_BASE_TMPFILE_H

#include "ptcap/error.h"

struct ptc_tmpfile {
	int fd;	    /* -1: none */
	char *tmp;  /* owned; its temporary name; NULL: none (yet, or any more) */
	char *path; /* owned; the final name, as ptc_replace_name gives it */
};

#define PTC_TMPFILE_INIT                                                                           \
	{                                                                                          \
		-1, NULL, NULL                                                                     \
	}

/*
 * Create it in the folder of @path, and remove there what killed processes left (base/hidden.h).
 * Mode 0600 as perf's: what ran is nobody else's business. @path may name what base/replace.h can
 * replace, which stays until commit. A symbolic link is replaced itself, never followed. Anything
 * else that exists is refused.
 */
int ptc_tmpfile_open(struct ptc_tmpfile *t, const char *path, struct ptc_err *err);

/* The same with a temporary name from the start, as where there is no O_TMPFILE. */
int ptc_tmpfile_open_named(struct ptc_tmpfile *t, const char *path, struct ptc_err *err);

/* Another file in the folder of @t, that never has a name: a descriptor, or -1. */
int ptc_tmpfile_nameless(const struct ptc_tmpfile *t);

/*
 * Close, and give it its name; what had it is kept as PATH.old (base/replace.h). On failure the
 * temporary file is removed.
 */
int ptc_tmpfile_commit(struct ptc_tmpfile *t, struct ptc_err *err);

/* Remove what was not committed. Accepts PTC_TMPFILE_INIT. */
void ptc_tmpfile_release(struct ptc_tmpfile *t);

#endif
