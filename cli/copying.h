/* SPDX-License-Identifier: MIT */
/* What convert and recover share. */
#ifndef PTC_CLI_COPYING_H
#define PTC_CLI_COPYING_H

#include <stdbool.h>

#include "auxtrace/copy.h"

/*
 * Would writing @output destroy @input: is it the same file, in the folder that is
 * the recording, or the FILE.old that the former @output becomes? Says so, as @command, if it is.
 */
bool ptc_copying_clash(const char *command, const char *input, const char *output);

/* Name the features that the new form cannot have. */
void ptc_copying_say_lost(const struct ptc_copy_stats *st);

#endif
