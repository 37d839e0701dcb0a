/* SPDX-License-Identifier: MIT */
/* The options of `ptcap snapshot`. */
#ifndef PTC_CLI_SNAPSHOT_ARGS_H
#define PTC_CLI_SNAPSHOT_ARGS_H

#include "args.h"
#include "ptcap/capture.h"

struct ptc_snapshot_args {
	struct ptc_record_opts opts;
	pid_t pids[PTC_MAX_TARGETS], tids[PTC_MAX_TARGETS];
	const char *control; /* NULL: none */
	bool on_exit;
	bool strict, quiet, verbose;
};

/* Returns -1 to go on, or an exit code. */
int ptc_snapshot_args_parse(int argc, char **argv, struct ptc_snapshot_args *a);

#endif
