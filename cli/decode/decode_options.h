/* SPDX-License-Identifier: MIT */
/* The options of `ptcap decode`, for a struct ptc_decode_args. */
#ifndef PTC_CLI_DECODE_DECODE_OPTIONS_H
#define PTC_CLI_DECODE_DECODE_OPTIONS_H

#include "cli/common/option_table.h"

extern const struct ptc_option_table ptc_decode_options;

#endif
