/* SPDX-License-Identifier: MIT */
/*
 * attr.config of an intel_pt event: IA32_RTIT_CTL, laid out as in the PMU's format/ since Linux 4.1
 * (arch/x86/events/intel/pt.c, PMU_FORMAT_ATTR).
 */
#ifndef PTC_CAPTURE_HOST_PT_CONFIG_H
#define PTC_CAPTURE_HOST_PT_CONFIG_H

enum {
	PTC_CFG_PT = 1 << 0,
	PTC_CFG_CYC = 1 << 1,
	PTC_CFG_MTC = 1 << 9,
	PTC_CFG_TSC = 1 << 10,
	PTC_CFG_NORETCOMP = 1 << 11,
	PTC_CFG_BRANCH = 1 << 13,
	PTC_CFG_MTC_FREQ_SHIFT = 14,
	PTC_CFG_MTC_FREQ_MASK = 0xf << PTC_CFG_MTC_FREQ_SHIFT,
	PTC_CFG_PSB_SHIFT = 24,
	PTC_PSB_PERIOD_MIN = 2048, /* bytes; times 2^n */
};

#endif
