/* SPDX-License-Identifier: MIT */
/* Functions shared by convert and recover. */
#ifndef PTC_CLI_CONVERT_COPY_COMMON_H
#define PTC_CLI_CONVERT_COPY_COMMON_H

#include <stdbool.h>

#include "ptcap/copy.h"

/*
 * Return whether writing @output would destroy @input. That is so for the same file, a file inside
 * the recording's folder, and the FILE.old of an existing @output. Prints a usage error of
 * @command.
 */
bool ptc_copying_clash(const char *command, const char *input, const char *output);

/* List the features that the output's form cannot have. */
void ptc_copying_say_lost(const struct ptc_copy_stats *st);

#endif
