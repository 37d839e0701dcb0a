/* SPDX-License-Identifier: MIT */
/* Result of a recording: losses, and the exit code. */
#ifndef PTC_CLI_RECORD_RECORD_EXIT_H
#define PTC_CLI_RECORD_RECORD_EXIT_H

#include <stdbool.h>

#include "ptcap/capture.h"

/* Return whether --strict fails: there are losses, or the program's behavior changed. */
bool ptc_outcome_lost(const struct ptc_record_result *r);
/* Print losses to stderr. */
void ptc_outcome_say_untraced(const struct ptc_record_result *r);
void ptc_outcome_say_missing(const struct ptc_record_result *r);
void ptc_outcome_say_losses(const struct ptc_record_opts *o, const struct ptc_record_result *r);

/* Returns the exit code. @sig: the signal that ended the recording. */
int ptc_outcome_code(const struct ptc_record_opts *o, const struct ptc_record_result *r,
		     bool strict, int sig);
/* Returns the exit code if the recording failed. */
int ptc_outcome_failure(const struct ptc_record_opts *o, const struct ptc_err *err);

#endif
