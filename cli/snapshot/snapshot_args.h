/* SPDX-License-Identifier: MIT */
/* The options of `ptcap snapshot`. */
#ifndef PTC_CLI_SNAPSHOT_SNAPSHOT_ARGS_H
#define PTC_CLI_SNAPSHOT_SNAPSHOT_ARGS_H

#include "cli/common/args.h"
#include "ptcap/capture.h"

struct ptc_snapshot_args {
	struct ptc_record_opts opts;
	pid_t pids[PTC_MAX_TARGETS], tids[PTC_MAX_TARGETS];
	const char *at_texts[PTC_AT_MAX]; /* --at; resolved later */
	size_t nat;
	struct ptc_crossing at[PTC_AT_MAX];
	const char *control; /* NULL: not given */
	bool on_exit;
	uint64_t grace_ns; /* --grace; 0: the default */
	bool strict, quiet, verbose, no_sandbox, no_stacks;
};

/* Returns -1 to continue, or an exit code. */
int ptc_snapshot_args_parse(int argc, char **argv, struct ptc_snapshot_args *a);

/* Resolve the places of --at. */
int ptc_snapshot_args_places(struct ptc_snapshot_args *a, struct ptc_err *err);
void ptc_snapshot_args_release(struct ptc_snapshot_args *a);

#endif
