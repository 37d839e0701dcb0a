/* SPDX-License-Identifier: MIT */
/* A recording from its options to the exit code: what the commands that record share. */
#ifndef PTC_CLI_RECORDING_H
#define PTC_CLI_RECORDING_H

#include "record_args.h"

/* @argv is the command's own, of which argv[-1] is the program's name. Releases @a. */
int ptc_recording_run(struct ptc_record_args *a, char **argv);

#endif
