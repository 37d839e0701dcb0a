/* SPDX-License-Identifier: MIT */
/* Output of `ptcap doctor`. */
#ifndef PTC_CLI_DOCTOR_DOCTOR_OUT_H
#define PTC_CLI_DOCTOR_DOCTOR_OUT_H

#include <stdbool.h>

#include "cli/doctor/debug_files.h"
#include "ptcap/doctor.h"

/* Returns "hardware", "software" or "nothing". */
const char *ptc_doctor_verdict_name(enum ptc_doctor_verdict v);

/*
 * Print a table, or one JSON object (false: out of memory). @files: a check for each file of
 * the process; NULL: none.
 */
void ptc_doctor_text(const struct ptc_doctor *d, const struct ptc_file_check *files);
bool ptc_doctor_json(const struct ptc_doctor *d, const struct ptc_file_check *files);

#endif
