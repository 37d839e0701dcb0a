/* SPDX-License-Identifier: MIT */
/* Copies and checks the options of a recording before anything else happens. */
#ifndef PTC_CAPTURE_SESSION_OPTS_H
#define PTC_CAPTURE_SESSION_OPTS_H

#include "ptcap/capture.h"

/*
 * Copies @opts to @ret. Without on_wake, ret->wake_fd is -1. PTC_E_USAGE names the first option
 * that no source supports. PTC_E_UNSUPPORTED: @opts has fields that this version does not know.
 */
int ptc_record_opts_take(struct ptc_record_opts *ret, const struct ptc_record_opts *opts,
			 struct ptc_err *err);

#endif
