/* SPDX-License-Identifier: MIT */
/* A recording from options to exit code, shared by the commands that record. */
#ifndef PTC_CLI_RECORD_RECORD_RUN_H
#define PTC_CLI_RECORD_RECORD_RUN_H

#include "cli/record/record_args.h"

/* @argv: the command's arguments; argv[-1] is the program's name. Releases @a. */
int ptc_recording_run(struct ptc_record_args *a, char **argv);

#endif
