/* SPDX-License-Identifier: MIT */
/*
 * Runs one ptcap command in this process, with the files of an archive in a folder of its own.
 * Discards all output.
 */
#ifndef PTC_TESTS_FUZZ_COMMAND_H
#define PTC_TESTS_FUZZ_COMMAND_H

#include "archive.h"

/* Makes the folder, which is removed when the process ends, and discards all output from now on. */
void cm_begin(void);
/* Returns the exit code. */
int cm_run(const struct archive *a);
/* Like cm_run, and returns the content of the output file in @ret, which it overwrites. */
int cm_run_output(const struct archive *a, struct ptc_buf *ret);

/*
 * Return a command or the choice of an option by name, for seeds. Both abort if the name is
 * unknown.
 */
uint8_t cm_find(const char *command);
/* Sets the option ("--calls", "--core") in all groups that have it. */
void cm_choose(struct archive *a, const char *option);

#endif
