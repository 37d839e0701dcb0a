/* SPDX-License-Identifier: MIT */
/*
 * Snapshots, each a file of its own: all that the AUX rings hold at that moment, and the side
 * records that belong to it.
 */
#ifndef PTC_CAPTURE_SERIES_H
#define PTC_CAPTURE_SERIES_H

#include "capture/drain.h"
#include "capture/filing.h"
#include "capture/kept.h"

struct ptc_series {
	struct ptc_filing *filing; /* lent, as is drain */
	struct ptc_drain *drain;
	struct ptc_kept *kept;		/* owned; what drain gives its records to */
	struct ptc_series_copy *copies; /* owned; one for each ring */
	struct ptc_buf states;		/* of those that died since the last file */
	struct ptc_buf code;		/* of files that are gone or replaced */
	uint64_t n, trace;		/* files there are, and bytes of trace in them */
	uint64_t file_bytes;		/* of them, in all */
};

/* The @n-th file (from 1 on) of a recording to @output: the caller's to free. NULL: out of memory.
 */
char *ptc_series_path(const struct ptc_record_opts *opts, uint64_t n);

/*
 * Of @drain's rings, whose records are kept from now on. It fails if there can be no such file.
 * Release it whether this fails or not, after the drain.
 */
int ptc_series_init(struct ptc_series *s, struct ptc_filing *filing, struct ptc_drain *drain,
		    struct ptc_err *err);
void ptc_series_release(struct ptc_series *s);

/* The rings stand still, and all records up to now were drained: copy what is in them. */
int ptc_series_copy(struct ptc_series *s, struct ptc_err *err);

/* Write the file of what was copied; *ret_bytes of it are trace. */
int ptc_series_write(struct ptc_series *s, uint64_t *ret_bytes, struct ptc_err *err);

#endif
