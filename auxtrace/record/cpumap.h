/* SPDX-License-Identifier: MIT */
/* Writing sets of CPUs: the inverse of the parser in ptcap/userrec.h. */
#ifndef PTC_AUXTRACE_RECORD_CPUMAP_H
#define PTC_AUXTRACE_RECORD_CPUMAP_H

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/userrec.h"

/*
 * Append @m in the form of its type: the inverse of ptc_cpu_map_parse. Parts of a wrong size set @b
 * to failed.
 */
void ptc_cpu_map_put(struct ptc_buf *b, const struct ptc_cpu_map *m);

#endif
