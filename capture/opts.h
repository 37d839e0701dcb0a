/* SPDX-License-Identifier: MIT */
/* The options of a recording, as callers give them: copied and checked before anything happens. */
#ifndef PTC_CAPTURE_OPTS_H
#define PTC_CAPTURE_OPTS_H

#include "ptcap/capture.h"

/*
 * Copies @opts to @ret. A wake_fd without on_wake is -1 there if it is 0, as zeros leave it.
 * PTC_E_USAGE names the first option that no source can follow; PTC_E_UNSUPPORTED.
 */
int ptc_record_opts_take(struct ptc_record_opts *ret, const struct ptc_record_opts *opts,
			 struct ptc_err *err);

#endif
