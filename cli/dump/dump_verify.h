/* SPDX-License-Identifier: MIT */
/* `ptcap dump --verify`. */
#ifndef PTC_CLI_DUMP_DUMP_VERIFY_H
#define PTC_CLI_DUMP_DUMP_VERIFY_H

#include <stdbool.h>

/* Print a line for each finding. Returns the exit code; PTC_EXIT_FINDINGS if there are findings. */
int ptc_verify_file(const char *path, bool json);

#endif
