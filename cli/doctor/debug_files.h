/* SPDX-License-Identifier: MIT */
/* Checks the debug files of a process, for `ptcap doctor -p`. */
#ifndef PTC_CLI_DOCTOR_DEBUG_FILES_H
#define PTC_CLI_DOCTOR_DEBUG_FILES_H

#include "ptcap/doctor.h"

enum { PTC_FILE_VALUE = 512, PTC_FILE_MEND = 384 };

/* The check of a file, and its texts. */
struct ptc_file_check {
	struct ptc_doctor_check check;
	char value[PTC_FILE_VALUE], mend[PTC_FILE_MEND];
};

/*
 * Makes a check for each file of @d. The name of a check is the name of the file, borrowed from @d.
 * @symfs: the root folder of the process, NULL: "/". Reads untrusted files: call it in the sandbox.
 * Caller frees *@ret, with ptc_doctor_nfiles checks.
 */
int ptc_debug_files_check(const struct ptc_doctor *d, const char *symfs,
			  struct ptc_file_check **ret, struct ptc_err *err);

#endif
