/* SPDX-License-Identifier: MIT */
/*
 * Writing a recording that is a folder, as perf record --kcore does: "data", a perf.data with
 * version 0 in DIR_FORMAT, and other files. The folder is built next to its final path under a
 * temporary name (base/temp_name.h), and renamed when complete. If SIGKILL prevents that, the next
 * output in the parent folder removes it.
 */
#ifndef PTC_BASE_FOLDER_OUT_H
#define PTC_BASE_FOLDER_OUT_H

#include "ptcap/error.h"

struct ptc_folder_out {
	char *path; /* owned; the final path, resolved; NULL: no output open */
	char *tmp;  /* owned; the temporary path; NULL: no longer exists */
	char *data; /* owned; path of the perf.data inside, for the writer */
	int lock;   /* lock on the name @tmp; -1: none */
};

#define PTC_FOLDER_OUT_INIT                                                                        \
	{                                                                                          \
		NULL, NULL, NULL, -1                                                               \
	}

/* Create the folder with mode 0700. base/replace.h says what may exist at @path. */
int ptc_folder_out_open(struct ptc_folder_out *o, const char *path, struct ptc_err *err);

/* Rename the complete folder to its path. An existing one is kept as NAME.old. */
int ptc_folder_out_commit(struct ptc_folder_out *o, struct ptc_err *err);

/* Remove the folder if it was not committed. Accepts PTC_FOLDER_OUT_INIT. */
void ptc_folder_out_release(struct ptc_folder_out *o);

#endif
