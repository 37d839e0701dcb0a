/* SPDX-License-Identifier: MIT */
/*
 * Which transfers a branch stack has by its event's branch_sample_type, and what save_type calls
 * them: arch/x86/events/utils.c (branch_type, branch_map) and intel/lbr.c
 * (intel_pmu_setup_sw_lbr_filter) of the kernel.
 */
#ifndef PTC_DECODE_BRANCHSEL_H
#define PTC_DECODE_BRANCHSEL_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* Addresses of the kernel's half. */
static inline bool ptc_is_kernel_ip(uint64_t ip)
{
	return ip >> 63;
}

/* attr's branch_sample_type; privilege levels that it leaves open are the event's own. */
uint64_t ptc_branchsel_of(const struct perf_event_attr *attr);

/* Does a stack of @sel have transfers of @kind (enum ptc_kind) that lead to @to? */
bool ptc_branchsel_wants(uint64_t sel, uint8_t kind, uint64_t to);

/* PERF_BR_* of @kind; PERF_BR_UNKNOWN where kernels do not agree about it. */
uint8_t ptc_branchsel_type(uint8_t kind);

/* "any,u", words as perf record -j has them. False: it has others, or contradicts itself. */
bool ptc_branchsel_parse(const char *s, uint64_t *ret);

#endif
