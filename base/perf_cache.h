/* SPDX-License-Identifier: MIT */
/* Finds the folder in which perf keeps copies of files by their build-ids. */
#ifndef PTC_BASE_PERF_CACHE_H
#define PTC_BASE_PERF_CACHE_H

/*
 * Returns the folder as perf finds it: PERF_BUILDID_DIR, else buildid.dir of ~/.perfconfig, else
 * ~/.debug. The caller frees it. NULL: there is no HOME, or out of memory.
 */
char *ptc_perf_cache_dir(void);

#endif
