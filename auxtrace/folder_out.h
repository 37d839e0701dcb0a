/* SPDX-License-Identifier: MIT */
/*
 * Writing a recording that is a folder, as perf record --kcore does: "data",
 * a perf.data whose DIR_FORMAT feature says 0, and what belongs to it. It is
 * made beside its name, under a temporary one (base/hidden.h), and renamed when it is whole.
 * After a SIGKILL before that, the next output in that folder removes it.
 */
#ifndef PTC_AUXTRACE_FOLDER_OUT_H
#define PTC_AUXTRACE_FOLDER_OUT_H

#include "ptcap/error.h"

struct ptc_folder_out {
	char *path; /* owned; the final name, resolved; NULL: none is being made */
	char *tmp;  /* owned; the name it has until then; NULL: it is there no more */
	char *data; /* owned; the perf.data in it, to be written */
	int lock;   /* on the name @tmp; -1: none */
};

#define PTC_FOLDER_OUT_INIT                                                                        \
	{                                                                                          \
		NULL, NULL, NULL, -1                                                               \
	}

/* Make it, mode 0700. What may be at @path: see base/replace.h. */
int ptc_folder_out_open(struct ptc_folder_out *o, const char *path, struct ptc_err *err);

/* All in it is written: give it its name; what had it is kept as NAME.old. */
int ptc_folder_out_commit(struct ptc_folder_out *o, struct ptc_err *err);

/* Remove what was not committed. Accepts PTC_FOLDER_OUT_INIT. */
void ptc_folder_out_release(struct ptc_folder_out *o);

#endif
