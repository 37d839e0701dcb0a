/* SPDX-License-Identifier: MIT */
/* Argument of --lbr-spoil, and names of error kinds for --truth. */
#ifndef PTC_CLI_RECORD_LBR_ARGS_H
#define PTC_CLI_RECORD_LBR_ARGS_H

#include <stdbool.h>

#include "ptcap/capture.h"

/* Parse "MODE[:RATE[:SEED]]", with "shift=K" for shift. Returns false if malformed. */
bool ptc_lbr_args_spoil(const char *s, struct ptc_lbr_spoil *ret);

/* Returns the name in --lbr-spoil; "none" for PTC_SPOIL_NONE. */
const char *ptc_lbr_spoil_name(enum ptc_spoil mode);

#endif
