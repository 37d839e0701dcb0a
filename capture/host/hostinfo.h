/* SPDX-License-Identifier: MIT */
/* Writes the usual perf features about the machine into a recording's header. */
#ifndef PTC_CAPTURE_HOST_HOSTINFO_H
#define PTC_CAPTURE_HOST_HOSTINFO_H

#include "auxtrace/writer/writer.h"

/*
 * Writes HOSTNAME, OSRELEASE, VERSION (@version), ARCH, NRCPUS, CPUDESC, CPUID, TOTAL_MEM, CMDLINE
 * and PMU_MAPPINGS, and the features of topology.h. PMU_MAPPINGS lists the machine's PMUs, and
 * intel_pt as @pt_pmu_type. Unknown values are left out. @root is a prefix for paths: "", except in
 * tests.
 */
int ptc_hostinfo_write(struct ptc_writer *w, const char *root, const char *version,
		       const char *const *cmdline, uint32_t pt_pmu_type, struct ptc_err *err);

/*
 * Returns the PMU type to write for intel_pt. On a machine without intel_pt (software sources) that
 * is a type that no other PMU has.
 */
uint32_t ptc_hostinfo_pt_type(const char *root);

/*
 * Writes "VENDOR,FAMILY,MODEL,STEPPING" of the current CPU into @out, as perf writes CPUID
 * (tools/perf/arch/x86/util/header.c). The source is the cpuid instruction.
 */
void ptc_hostinfo_cpuid(char *out, size_t size);

#endif
