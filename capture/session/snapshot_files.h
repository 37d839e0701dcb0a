/* SPDX-License-Identifier: MIT */
/*
 * Writes each snapshot to its own file: the contents of all AUX rings at that moment, and the
 * sideband records that belong to them.
 */
#ifndef PTC_CAPTURE_SESSION_SNAPSHOT_FILES_H
#define PTC_CAPTURE_SESSION_SNAPSHOT_FILES_H

#include "capture/session/drain.h"
#include "capture/session/file_metadata.h"
#include "capture/snapshot/retained_records.h"

struct ptc_series {
	struct ptc_filing *filing; /* borrowed, as is drain */
	struct ptc_drain *drain;
	struct ptc_kept *kept;		/* owned; drain adds its records here */
	struct ptc_series_copy *copies; /* owned; one for each ring */
	struct ptc_buf states;	   /* crash states of processes that died since the last file */
	struct ptc_buf code;	   /* code of files that are gone or replaced */
	uint64_t n, trace;	   /* number of files written, and bytes of trace in them */
	uint64_t file_bytes;	   /* total size of these files */
	uint64_t crashes, handled; /* states in these files: struct ptc_record_result */
};

/*
 * Returns the path of the @n-th file (from 1 on) of a recording to @output. Caller frees it. NULL:
 * out of memory.
 */
char *ptc_series_path(const struct ptc_record_opts *opts, uint64_t n);

/*
 * Prepares a series for @drain's rings. From now on @drain gives its records to s->kept. Fails if
 * the first file cannot be created. Call ptc_series_release also after a failure, and after the
 * drain's release.
 */
int ptc_series_init(struct ptc_series *s, struct ptc_filing *filing, struct ptc_drain *drain,
		    struct ptc_err *err);
void ptc_series_release(struct ptc_series *s);

/*
 * Copies the contents of the rings. The rings stand still, and all records up to now were drained.
 */
int ptc_series_copy(struct ptc_series *s, struct ptc_err *err);

/* Writes a file from the last copy. *ret_bytes is the number of trace bytes in it. */
int ptc_series_write(struct ptc_series *s, uint64_t *ret_bytes, struct ptc_err *err);

#endif
