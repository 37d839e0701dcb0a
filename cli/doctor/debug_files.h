/* SPDX-License-Identifier: MIT */
/* Checks the debug files of a process, for `ptcap doctor -p`. */
#ifndef PTC_CLI_DOCTOR_DEBUG_FILES_H
#define PTC_CLI_DOCTOR_DEBUG_FILES_H

#include <stddef.h>

#include "capture/doctor/target.h"
#include "ptcap/error.h"

/*
 * Makes a check for each file of @t. The name of a check is the name of the file, borrowed from @t.
 * @symfs: the root folder of the process, NULL: "/". Reads untrusted files: call it in the sandbox.
 * Caller frees *@ret, with t->nfiles checks.
 */
int ptc_debug_files_check(const struct ptc_target *t, const char *symfs, struct ptc_check **ret,
			  struct ptc_err *err);

#endif
