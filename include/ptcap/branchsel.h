/* SPDX-License-Identifier: MIT */
/*
 * Which branches a branch stack contains, by its event's branch_sample_type, and their types for
 * save_type. Kernel: arch/x86/events/utils.c (branch_type, branch_map) and intel/lbr.c
 * (intel_pmu_setup_sw_lbr_filter).
 */
#ifndef PTCAP_BRANCHSEL_H
#define PTCAP_BRANCHSEL_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "ptcap/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Return whether @ip is in the kernel's half of the address space. */
static inline bool ptc_is_kernel_ip(uint64_t ip)
{
	return ip >> 63;
}

/* Returns attr's branch_sample_type. Privilege levels left open there come from the event. */
PTC_API uint64_t ptc_branchsel_of(const struct perf_event_attr *attr);

/* Return whether a stack of @sel contains branches of @kind (enum ptc_kind) to @to. */
PTC_API bool ptc_branchsel_wants(uint64_t sel, uint8_t kind, uint64_t to);

/* Returns the kinds that @sel contains as a bit mask, for repeated checks. */
PTC_API uint64_t ptc_branchsel_kinds(uint64_t sel);

/* Returns PERF_BR_* of @kind; PERF_BR_UNKNOWN where kernel versions differ. */
PTC_API uint8_t ptc_branchsel_type(uint8_t kind);

/*
 * Flags that software sources can provide: all except hypervisors, transactions and counters.
 * Unknown branch flags and cycles are always 0.
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
 * Parse a list such as "any,u". Words are those of perf record -j, and in addition call_stack
 * (perf: stack), no_flags, no_cycles, hw_index and counter, which perf sets itself. Privilege
 * levels not named stay open. Returns false for an unknown word, or if call_stack is combined with
 * another class.
 */
PTC_API bool ptc_branchsel_parse(const char *s, uint64_t *ret);

#ifdef __cplusplus
}
#endif
#endif
