/* SPDX-License-Identifier: MIT */
/* What the header of a recording says of the machine: the usual perf features. */
#ifndef PTC_CAPTURE_HOSTINFO_H
#define PTC_CAPTURE_HOSTINFO_H

#include "auxtrace/writer.h"

/*
 * Write HOSTNAME, OSRELEASE, VERSION (@version), ARCH, NRCPUS, CPUDESC, CPUID,
 * TOTAL_MEM, CMDLINE, PMU_MAPPINGS (the machine's, and intel_pt as
 * @pt_pmu_type) and those of topology.h. What cannot be found out is left out. @root: "" but for
 * tests.
 */
int ptc_hostinfo_write(struct ptc_writer *w, const char *root, const char *version,
		       const char *const *cmdline, uint32_t pt_pmu_type, struct ptc_err *err);

/*
 * The PMU type to write for intel_pt: the machine's own, or where it has none
 * (software sources) one that no other PMU has.
 */
uint32_t ptc_hostinfo_pt_type(const char *root);

/*
 * "VENDOR,FAMILY,MODEL,STEPPING" of the CPU we run on, as perf writes CPUID
 * (tools/perf/arch/x86/util/header.c); from the cpuid instruction.
 */
void ptc_hostinfo_cpuid(char *out, size_t size);

#endif
