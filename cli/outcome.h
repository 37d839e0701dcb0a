/* SPDX-License-Identifier: MIT */
/* How a recording ended: what was lost, and the exit code. */
#ifndef PTC_CLI_OUTCOME_H
#define PTC_CLI_OUTCOME_H

#include <stdbool.h>

#include "ptcap/capture.h"

/* Is anything lost, or done otherwise than without ptcap, that --strict counts? */
bool ptc_outcome_lost(const struct ptc_record_result *r);
/* On stderr, what of it there is. */
void ptc_outcome_say_untraced(const struct ptc_record_result *r);
void ptc_outcome_say_losses(const struct ptc_record_opts *o, const struct ptc_record_result *r);

/* The exit code; @sig: what we were told to end by. */
int ptc_outcome_code(const struct ptc_record_opts *o, const struct ptc_record_result *r,
		     bool strict, int sig);
/* The exit code when there is no recording. */
int ptc_outcome_failure(const struct ptc_record_opts *o, const struct ptc_err *err);

#endif
