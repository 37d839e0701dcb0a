/* SPDX-License-Identifier: MIT */
/*
 * A recording that is a folder: its file "data" (once "header") is a perf.data,
 * and when the DIR_FORMAT feature there says version 1, "data.0" to "data.N"
 * hold more records, with no header. Version 0: there is nothing more to it
 * (perf record --kcore). Other files there are not looked at.
 */
#ifndef PTC_AUXTRACE_FOLDER_H
#define PTC_AUXTRACE_FOLDER_H

#include "auxtrace/header.h"

/* Open "data" as the first part of @f, which has a name and none yet. Errors name the file. */
int ptc_folder_head(struct ptc_file *f, int folder, struct ptc_err *err);

/* The header has been read: open the others. Errors name the file. */
int ptc_folder_parts(struct ptc_file *f, int folder, struct ptc_err *err);

#endif
