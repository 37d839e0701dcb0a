/* SPDX-License-Identifier: MIT */
/*
 * Which transfers a branch stack has by its event's branch_sample_type, and what save_type calls
 * them: arch/x86/events/utils.c (branch_type, branch_map) and intel/lbr.c
 * (intel_pmu_setup_sw_lbr_filter) of the kernel.
 */
#ifndef PTC_AUXTRACE_BRANCHSEL_H
#define PTC_AUXTRACE_BRANCHSEL_H

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

/* Those kinds, a bit for each: for who has many to ask about. */
uint64_t ptc_branchsel_kinds(uint64_t sel);

/* PERF_BR_* of @kind; PERF_BR_UNKNOWN where kernels do not agree about it. */
uint8_t ptc_branchsel_type(uint8_t kind);

/*
 * What software can make of transfers: all but hypervisors, transactions and counters. Flags that
 * it does not know and cycles are 0 in any case.
 */
#define PTC_BRANCHSEL_MADE                                                                         \
	((uint64_t)(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_ANY | \
		    PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_ANY_RETURN |                  \
		    PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_IND_JUMP |                    \
		    PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_CALL |                            \
		    PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_TYPE_SAVE |                 \
		    PERF_SAMPLE_BRANCH_PRIV_SAVE | PERF_SAMPLE_BRANCH_HW_INDEX |                   \
		    PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES))

/*
 * "any,u", words as perf record -j has them, and call_stack (perf: stack), no_flags, no_cycles,
 * hw_index and counter, which perf sets by itself; levels that are not named stay open. False: it
 * has others, or contradicts itself: call_stack is no class that others could be beside.
 */
bool ptc_branchsel_parse(const char *s, uint64_t *ret);

#endif
