/* SPDX-License-Identifier: MIT */
/*
 * Reads a source file that debug information names, so its name is untrusted. Only regular files
 * are read, up to a limit, and only files whose suffix is one of a programming language. So a
 * hostile recording cannot print other files.
 */
#ifndef PTC_CLI_COMMON_SOURCE_FILE_H
#define PTC_CLI_COMMON_SOURCE_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/buf.h"

/*
 * Returns @path, which may be relative to @folder, below @symfs (NULL: none). Caller frees it.
 * NULL: out of memory, or the folder is not known.
 */
char *ptc_source_file_name(const char *symfs, const char *folder, const char *path);

/* Read the source file @path into @ret, which is reset first. Returns false if that is not
 * possible. */
bool ptc_source_file_read(const char *symfs, const char *folder, const char *path,
			  struct ptc_buf *ret, struct stat *ret_st);

#endif
