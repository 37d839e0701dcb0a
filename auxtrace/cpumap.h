/* SPDX-License-Identifier: MIT */
/* Writing sets of CPUs: what ptcap/userrec.h reads. */
#ifndef PTC_AUXTRACE_CPUMAP_H
#define PTC_AUXTRACE_CPUMAP_H

#include "base/buf.h"
#include "base/cursor.h"
#include "ptcap/userrec.h"

/* Append @m as its type says: the inverse of parse. Parts of a wrong size fail @b. */
void ptc_cpu_map_put(struct ptc_buf *b, const struct ptc_cpu_map *m);

#endif
