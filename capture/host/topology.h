/* SPDX-License-Identifier: MIT */
/* Writes header features about CPUs, caches and memory, from /sys. */
#ifndef PTC_CAPTURE_HOST_TOPOLOGY_H
#define PTC_CAPTURE_HOST_TOPOLOGY_H

#include "auxtrace/writer/writer.h"

/*
 * Writes CPU_TOPOLOGY, NUMA_TOPOLOGY, CACHE and MEM_TOPOLOGY. @ncpus: the "available" number of
 * NRCPUS. Unknown values are left out. @root is a prefix for paths: "", except in tests.
 * PTC_E_NO_MEMORY, or the error of the writer.
 */
int ptc_topology_write(struct ptc_writer *w, const char *root, uint32_t ncpus, struct ptc_err *err);

#endif
