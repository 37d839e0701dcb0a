/* SPDX-License-Identifier: MIT */
/*
 * A recording that is a folder. Its file "data" (older: "header") is a perf.data. If its DIR_FORMAT
 * feature is version 1, "data.0" to "data.N" contain more records, without a header. Version 0
 * (perf record --kcore): no more records. Other files in the folder are not read. The folder may
 * also be in a bundle.
 */
#ifndef PTC_AUXTRACE_READER_DIR_READER_H
#define PTC_AUXTRACE_READER_DIR_READER_H

#include "auxtrace/reader/file_private.h"

/* Open "data" as the first part of @f, which has a name and no part yet. Errors name the file. */
int ptc_folder_head(struct ptc_file *f, int folder, struct ptc_err *err);

/*
 * Open the other parts, after the header was read. @folder -1: they are members of f->bundle.
 * Errors name the file.
 */
int ptc_folder_parts(struct ptc_file *f, int folder, struct ptc_err *err);

#endif
