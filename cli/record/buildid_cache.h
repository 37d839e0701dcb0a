/* SPDX-License-Identifier: MIT */
/* Copies the files of a recording to perf's cache of build-ids, as perf record does. */
#ifndef PTC_CLI_RECORD_BUILDID_CACHE_H
#define PTC_CLI_RECORD_BUILDID_CACHE_H

#include <stdbool.h>

/*
 * Copies the files that the feature BUILD_ID of the recording @path lists to perf's cache
 * (base/perf_cache.h). The folder gets the layout of perf: PATH/BUILD-ID/elf, and a link below
 * .build-id. Prints the number of files, and the kinds of code that the cache lacks, unless @quiet.
 * Returns false if the cache could not be filled, which was printed.
 */
bool ptc_buildid_cache_fill(const char *path, bool quiet);

#endif
