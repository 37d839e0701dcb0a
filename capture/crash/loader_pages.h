/* SPDX-License-Identifier: MIT */
/*
 * The memory by which a debugger finds the shared libraries of a process: program headers, dynamic
 * section, r_debug and the list of link maps (link.h). It is found from the auxiliary vector.
 */
#ifndef PTC_CAPTURE_CRASH_LOADER_PAGES_H
#define PTC_CAPTURE_CRASH_LOADER_PAGES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ptcap/cursor.h"

/* Limits: 1 MiB in pages of 4096 bytes; 1024 libraries. */
enum { PTC_LOADER_PAGES = 256, PTC_LOADER_LIBRARIES = 1024 };

/*
 * Find the pages in the memory of @tid, whose auxiliary vector is @auxv. Fills @ret with addresses
 * in ascending order. Returns their number. The list ends early if memory is damaged or a limit is
 * reached. A static program has only the pages of its headers.
 */
size_t ptc_loader_pages(pid_t tid, struct ptc_cur auxv, uint64_t ret[PTC_LOADER_PAGES]);

#endif
