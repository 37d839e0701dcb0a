/* SPDX-License-Identifier: MIT */
/* Text files in a folder that ptcap has made. */
#ifndef PTC_CLI_TIMELINE_FOLDER_FILE_H
#define PTC_CLI_TIMELINE_FOLDER_FILE_H

#include <stdio.h>

#include "ptcap/error.h"

/* Creates a new file, mode 0600. Returns NULL and errno: EEXIST if the name is taken. */
FILE *ptc_folder_file_new(const char *folder, const char *name);

/* As ptc_folder_file_new. On failure returns NULL and @err. */
FILE *ptc_folder_file_create(const char *folder, const char *name, struct ptc_err *err);

/* Closes @f. Returns 0, or PTC_E_IO if not everything was written. */
int ptc_folder_file_close(FILE *f, const char *folder, const char *name, struct ptc_err *err);

#endif
