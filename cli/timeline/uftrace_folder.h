/* SPDX-License-Identifier: MIT */
/*
 * The calls of a recording as a folder of uftrace, for `uftrace report`, `replay`, `graph`, `tui`
 * and `dump`. The folder appears under its name only when it is complete. doc/format.md describes
 * its files.
 */
#ifndef PTC_CLI_TIMELINE_UFTRACE_FOLDER_H
#define PTC_CLI_TIMELINE_UFTRACE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/folder_out.h"
#include "base/idmap.h"
#include "cli/calls/call_axis.h"
#include "cli/calls/call_stream.h"
#include "cli/timeline/uftrace_addresses.h"
#include "cli/timeline/uftrace_records.h"

/* uftrace 0.13 shows no deeper functions. */
enum { PTC_UFTRACE_LEVELS = 1024 };

/* Initialize with ptc_uftrace_open. */
struct ptc_uftrace {
	struct ptc_call_stream stream;
	struct ptc_call_axis axis;
	struct ptc_uftrace_addresses addresses;
	struct ptc_uftrace_records records;
	struct ptc_folder_out out;
	struct ptc_uftrace_task *tasks; /* owned; lines of task.txt */
	size_t ntasks, tasks_cap;
	struct ptc_idmap pids; /* indexes into tasks: the newest session of a process */
	uint32_t *sessions;    /* owned */
	size_t nsessions, sessions_cap;
	bool *lost; /* owned; by the numbers of threads: its last record is a gap */
	size_t nlost, lost_cap;
	uint64_t calls;
	uint64_t too_deep; /* calls that are deeper than PTC_UFTRACE_LEVELS */
	uint32_t deepest;
	bool failed; /* err has the reason */
	struct ptc_err err;
};

/*
 * Begins the folder @path. The calls are those of @d, with opts.lengths and opts.icount. @by_insns:
 * 1 ns stands for 1 instruction. On failure nothing needs a release. Errors: as
 * ptc_folder_out_open, and PTC_E_NO_MEMORY.
 */
int ptc_uftrace_open(struct ptc_uftrace *u, struct ptc_decode *d, const char *path, bool inlines,
		     bool by_insns, struct ptc_err *err);
/* Removes a folder that is not complete. */
void ptc_uftrace_release(struct ptc_uftrace *u);

/* ptc_sink.on_items. ctx is a struct ptc_uftrace. */
int ptc_uftrace_items(void *ctx, const struct ptc_item *items, size_t n);

/*
 * Completes the folder, after all items. Without calls there is no folder. To be called once, if
 * u->failed is not set.
 */
int ptc_uftrace_finish(struct ptc_uftrace *u, struct ptc_err *err);

#endif
