/* SPDX-License-Identifier: MIT */
/* The options of `ptcap record`, for a struct ptc_record_args. */
#ifndef PTC_CLI_RECORD_RECORD_OPTIONS_H
#define PTC_CLI_RECORD_RECORD_OPTIONS_H

#include "cli/common/option_table.h"

extern const struct ptc_option_table ptc_record_options;

#endif
