/* SPDX-License-Identifier: MIT */
/*
 * One command of ptcap in this process, with the files of an archive in a folder of its own. All
 * that it prints is dropped.
 */
#ifndef PTC_TESTS_FUZZ_COMMAND_H
#define PTC_TESTS_FUZZ_COMMAND_H

#include "archive.h"

/* Makes the folder, which goes when the process ends; drops what is printed from now on. */
void cm_begin(void);
/* Returns the exit code. */
int cm_run(const struct archive *a);
/* The same, and what it wrote to its output file is in @ret, which is overwritten. */
int cm_run_output(const struct archive *a, struct ptc_buf *ret);

/* Commands by name, and the choice of an option, for seeds; both abort if there is none. */
uint8_t cm_find(const char *command);
/* Of all groups that have it: "--calls", "--core". */
void cm_choose(struct archive *a, const char *option);

#endif
