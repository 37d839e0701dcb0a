/* SPDX-License-Identifier: MIT */
/* Ground truth of a software source, written to a file: every branch, or a hash of them. */
#ifndef PTC_CLI_RECORD_GROUND_TRUTH_FILE_H
#define PTC_CLI_RECORD_GROUND_TRUTH_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/tmpfile.h"
#include "ptcap/capture.h"
#include "ptcap/error.h"
#include "ptcap/kind.h"

/* Branches of a thread between two lines of --truth-hash. */
enum { PTC_TRUTH_EVERY = 65536 };

struct ptc_truth_tid {
	int tid;
	uint64_t n, hash;
};

struct ptc_truth_file {
	const char *path; /* borrowed; NULL: not wanted */
	bool hash;	  /* lines of tid, count, hash instead of the branches */
	struct ptc_tmpfile file;
	FILE *out;		    /* NULL: not open */
	struct ptc_truth_tid *tids; /* owned; in order of each thread's first branch */
	size_t ntids, cap;
	uint32_t *index; /* owned hash table by tid: index in tids + 1; open addressing */
	size_t nindex;	 /* a power of two, or 0 */
	size_t last;	 /* last thread found */
	bool failed;	 /* out of memory */
};

#define PTC_TRUTH_FILE_INIT                                                                        \
	{                                                                                          \
		NULL, false, PTC_TMPFILE_INIT, NULL, NULL, 0, 0, NULL, 0, 0, false                 \
	}

/* Open t->path, unless NULL. The file appears when it is closed. */
int ptc_truth_file_open(struct ptc_truth_file *t, struct ptc_err *err);

/* struct ptc_record_opts' truth; @ctx: a struct ptc_truth_file. */
void ptc_truth_file_put(void *ctx, int tid, uint64_t from, uint64_t to, enum ptc_kind kind);

/* Callback for ptc_record_callbacks.lbr_truth. */
void ptc_truth_file_note(void *ctx, const struct ptc_lbr_note *note);

/* Close the file: keep it (@keep) or remove it. */
int ptc_truth_file_close(struct ptc_truth_file *t, bool keep, struct ptc_err *err);

#endif
