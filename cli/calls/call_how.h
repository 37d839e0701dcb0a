/* SPDX-License-Identifier: MIT */
/* The words for enum ptc_call_how in JSON and in tables (doc/json.md). */
#ifndef PTC_CLI_CALLS_CALL_HOW_H
#define PTC_CLI_CALLS_CALL_HOW_H

#include "ptcap/calls.h"

/* Returns a literal, for example "tail". */
const char *ptc_call_how_name(enum ptc_call_how how);

#endif
