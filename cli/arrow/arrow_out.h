/* SPDX-License-Identifier: MIT */
/*
 * `ptcap decode --format arrow`: the branches, calls, gaps and crashes of a recording as tables in
 * Arrow's IPC format: a folder of files, which appears when it is complete, or a stream of one
 * table to standard output. doc/format.md lists the columns.
 */
#ifndef PTC_CLI_ARROW_ARROW_OUT_H
#define PTC_CLI_ARROW_ARROW_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/folder_out.h"
#include "base/tid_counter.h"
#include "cli/arrow/arrow_names.h"
#include "cli/arrow/arrow_places.h"
#include "cli/arrow/arrow_table.h"
#include "cli/arrow/call_table.h"
#include "cli/calls/call_stream.h"

enum ptc_arrow_which {
	PTC_ARROW_BRANCHES,
	PTC_ARROW_CALLS,
	PTC_ARROW_GAPS,
	PTC_ARROW_CRASHES,
	PTC_ARROW_TABLES
};

struct ptc_arrow_opts {
	const char *path;      /* of the folder; NULL, "-": standard output */
	const char *recording; /* its name, for the column; borrowed for the call */
	const char *input;     /* its path, for signatures of crashes; borrowed for the call */
	const struct ptc_code_opts *code; /* of the decode; borrowed for the call */
	uint32_t tables;		  /* bits 1 << enum ptc_arrow_which; standard output: one */
	bool inlines;			  /* inlined functions, too */
	bool is_shard;			  /* the numbers of instructions are not known */
	bool no_crashes;		  /* another shard has them: the table is empty */
};

/* Initialize with ptc_arrow_open. */
struct ptc_arrow {
	struct ptc_decode *d; /* borrowed */
	struct ptc_folder_out out;
	bool to_stdout;
	struct ptc_arrow_names names;
	struct ptc_arrow_places places;
	struct ptc_arrow_table tables[PTC_ARROW_TABLES];
	struct ptc_call_stream stream;
	struct ptc_call_table calls;
	struct ptc_tid_counter icounts;
	bool is_shard; /* see struct ptc_arrow_opts */
	bool failed;   /* err has the reason */
	struct ptc_err err;
};

/* Parse "branches,calls,gaps,crashes", a selection of them, into bits. Returns false if invalid. */
bool ptc_arrow_parse_tables(const char *list, uint32_t *ret);

/*
 * Begins the tables, and explains the crashes. @d has opts.icount, except for a shard, and
 * opts.lengths for calls. On failure nothing needs a release. Errors: as ptc_folder_out_open,
 * PTC_E_IO and PTC_E_NO_MEMORY.
 */
int ptc_arrow_open(struct ptc_arrow *a, struct ptc_decode *d, const struct ptc_arrow_opts *opts,
		   struct ptc_err *err);
/* Removes a folder that is not complete. */
void ptc_arrow_close(struct ptc_arrow *a);

/* ptc_sink.on_items. ctx is a struct ptc_arrow. */
int ptc_arrow_items(void *ctx, const struct ptc_item *items, size_t n);

/* Completes the tables, after all items. To be called once, if a->failed is not set. */
int ptc_arrow_finish(struct ptc_arrow *a, struct ptc_err *err);

#endif
