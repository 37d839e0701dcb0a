/* SPDX-License-Identifier: MIT */
/* The processor of this machine, according to the cpuid instruction. */
#ifndef PTC_CAPTURE_HOST_PROCESSOR_H
#define PTC_CAPTURE_HOST_PROCESSOR_H

#include <stdbool.h>

struct ptc_processor {
	char vendor[13]; /* "GenuineIntel" */
	char name[49];	 /* the brand string; "": none */
	bool intel_pt;	 /* the processor, or the virtual machine, has Intel PT */
	bool virtual_machine;
	char hypervisor[13]; /* "KVMKVMKVM"; "": no virtual machine */
};

/* Reads the current CPU. Always succeeds. */
void ptc_processor_read(struct ptc_processor *ret);

/*
 * Returns why a machine has no usable Intel PT, as part of a sentence. @cpu: the processor has
 * Intel PT. @pmu: the kernel has the PMU intel_pt. NULL: the machine has it.
 */
const char *ptc_processor_why_no_pt(bool cpu, bool pmu);

#endif
