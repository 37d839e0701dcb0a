/* SPDX-License-Identifier: MIT */
/* What --lbr-spoil takes, and what --truth says of branch stacks. */
#ifndef PTC_CLI_LBR_ARGS_H
#define PTC_CLI_LBR_ARGS_H

#include <stdbool.h>

#include "ptcap/capture.h"

/* "MODE[:RATE[:SEED]]", MODE a name, of shift with "=K". False: it is something else. */
bool ptc_lbr_args_spoil(const char *s, struct ptc_lbr_spoil *ret);

/* Of --lbr-spoil; "none" of PTC_SPOIL_NONE. */
const char *ptc_lbr_spoil_name(enum ptc_spoil mode);

#endif
