/* SPDX-License-Identifier: MIT */
/*
 * AUXTRACE_INFO for Intel PT, and TIME_CONV.
 * Words: tools/perf/util/intel-pt.h, enum (facts are listed in doc/format.md).
 */
#ifndef PTC_AUXTRACE_PT_INFO_H
#define PTC_AUXTRACE_PT_INFO_H

#include <stdbool.h>

#include "auxtrace/record.h"

enum { PTC_AUXTRACE_TYPE_INTEL_PT = 1, PTC_AUXTRACE_TYPE_INTEL_BTS = 2 };

/* perf time = zero + TSC * mult >> shift (perf_event_mmap_page, cap_user_time_zero). */
struct ptc_time_conv {
	uint16_t shift;
	uint32_t mult; /* 0: TSC cannot be converted */
	uint64_t zero;
};

uint64_t ptc_tsc_to_ns(const struct ptc_time_conv *tc, uint64_t tsc);
uint64_t ptc_ns_to_tsc(const struct ptc_time_conv *tc, uint64_t ns);

struct ptc_pt_info {
	uint32_t type;	   /* PTC_AUXTRACE_TYPE_*; the words are read for INTEL_PT only */
	uint32_t pmu_type; /* equals attr.type of the PT event */
	struct ptc_time_conv time;
	bool cap_user_time_zero;	 /* time is valid */
	uint64_t tsc_bit, noretcomp_bit; /* masks in attr.config */
	uint64_t have_sched_switch;	 /* 0 none, 1 tracepoint, 2 SWITCH, 3 SWITCH_CPU_WIDE */
	bool snapshot_mode;
	bool per_cpu_mmaps;
	uint64_t mtc_bit, mtc_freq_bits; /* masks in attr.config; 0 if not recorded */
	uint32_t tsc_ctc_n,
		tsc_ctc_d; /* TSC ticks per CTC tick = n / d (CPUID 15h ebx / eax); 0: unknown */
	uint64_t cyc_bit;
	uint32_t max_nonturbo_ratio;
	const char *filter; /* lent; "" if none */
};

int ptc_pt_info_parse(const struct ptc_rec *rec, struct ptc_pt_info *ret, struct ptc_err *err);
void ptc_pt_info_put(struct ptc_buf *b, const struct ptc_pt_info *info);

/* PERF_RECORD_TIME_CONV (79). Parse accepts the short form without cap words. */
int ptc_time_conv_parse(const struct ptc_rec *rec, struct ptc_time_conv *ret, struct ptc_err *err);
void ptc_time_conv_put(struct ptc_buf *b, const struct ptc_time_conv *tc);

/* The MTC period exponent (IA32_RTIT_CTL.MTCFreq) from attr.config, and others: masks shifted down.
 */
uint64_t ptc_config_field(uint64_t config, uint64_t mask);

#endif
