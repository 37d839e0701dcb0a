/* SPDX-License-Identifier: MIT */
/* What the header of a recording says of the machine's CPUs, caches and memory, as /sys has it. */
#ifndef PTC_CAPTURE_TOPOLOGY_H
#define PTC_CAPTURE_TOPOLOGY_H

#include "auxtrace/writer.h"

/*
 * Write CPU_TOPOLOGY, NUMA_TOPOLOGY, CACHE and MEM_TOPOLOGY. @ncpus: as many as
 * NRCPUS calls available. What cannot be found out is left out. @root: "" but for
 * tests. PTC_E_NO_MEMORY, and what writing ends with.
 */
int ptc_topology_write(struct ptc_writer *w, const char *root, uint32_t ncpus, struct ptc_err *err);

#endif
