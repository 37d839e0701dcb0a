/* SPDX-License-Identifier: MIT */
/* What sysfs says of the intel_pt PMU (arch/x86/events/intel/pt.c). */
#ifndef PTC_CAPTURE_PERF_PMU_H
#define PTC_CAPTURE_PERF_PMU_H

#include <stdbool.h>
#include <stdint.h>

#include "ptcap/error.h"

struct ptc_pmu {
	uint32_t type;
	bool mtc;	      /* caps/mtc */
	uint64_t mtc_periods; /* caps/mtc_periods: mask of allowed exponents; 0: not known */
	bool psb_cyc;	      /* caps/psb_cyc: the PSB period can be chosen */
	uint64_t psb_periods; /* caps/psb_periods, likewise */
	uint32_t max_nonturbo_ratio;
	uint32_t tsc_ctc_n, tsc_ctc_d; /* tsc_art_ratio; 0: not known */
};

/* Read ROOT/sys/bus/event_source/devices/intel_pt; PTC_E_NOT_EXIST if it is not there. */
int ptc_pmu_read(struct ptc_pmu *p, const char *root, struct ptc_err *err);

/*
 * attr.config: branches, TSC, and where the PMU has it MTC at the period
 * nearest to perf's default (3). @psb_period in bytes, 0 for the PMU's default;
 * one the PMU does not have is PTC_E_UNSUPPORTED.
 */
int ptc_pmu_config(const struct ptc_pmu *p, bool no_retcomp, uint32_t psb_period, uint64_t *ret,
		   struct ptc_err *err);

#endif
