/* SPDX-License-Identifier: MIT */
/*
 * The calls of a recording as a file in the Fuchsia trace format (FXT), which
 * https://ui.perfetto.dev shows. The file has a limited size: short calls are merged into their
 * callers. A file with a name appears when it is complete. doc/format.md describes its records.
 */
#ifndef PTC_CLI_TIMELINE_FXT_FILE_H
#define PTC_CLI_TIMELINE_FXT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tmpfile.h"
#include "cli/calls/call_axis.h"
#include "cli/calls/call_stream.h"
#include "cli/timeline/fxt_writer.h"
#include "cli/timeline/kept_calls.h"

struct ptc_fxt_opts {
	const char *path; /* NULL, "-": standard output */
	bool inlines;	  /* inlined functions, too */
	bool by_insns;	  /* 1 ns stands for 1 instruction */
	uint64_t limit;	  /* bytes of the file, at most */
};

/* Initialize with ptc_fxt_open. */
struct ptc_fxt_file {
	struct ptc_call_stream stream;
	struct ptc_call_axis axis;
	struct ptc_kept_calls kept;
	struct ptc_fxt_writer writer;
	struct ptc_tmpfile out;
	struct ptc_fxt_thread_begin *begins; /* owned; by the numbers of threads */
	size_t nbegins, begins_cap;
	uint32_t *waiting; /* owned; threads that a gap interrupted, and that have no mark yet */
	size_t nwaiting, waiting_cap;
	bool failed; /* err has the reason */
	struct ptc_err err;
};

/*
 * Begins the file. The calls are those of @d, with opts.lengths and opts.icount. On failure nothing
 * needs a release. Errors: as ptc_tmpfile_open, and PTC_E_NO_MEMORY.
 */
int ptc_fxt_open(struct ptc_fxt_file *x, struct ptc_decode *d, const struct ptc_fxt_opts *opts,
		 struct ptc_err *err);
/* Removes a file that is not complete. */
void ptc_fxt_close(struct ptc_fxt_file *x);

/* ptc_sink.on_items. ctx is a struct ptc_fxt_file. */
int ptc_fxt_items(void *ctx, const struct ptc_item *items, size_t n);

/*
 * Writes the file, after all items. Without calls there is no file. PTC_E_LIMIT: the names of
 * threads alone are larger than the limit. To be called once, if x->failed is not set.
 */
int ptc_fxt_finish(struct ptc_fxt_file *x, struct ptc_err *err);

#endif
