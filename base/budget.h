/* SPDX-License-Identifier: MIT */
/*
 * One memory budget for the whole process. Code that allocates an amount given by a file asks here
 * first. Memory in use is measured, not counted. So memory of libelf, libdw and libipt counts too,
 * and no allocation has to be returned to the budget.
 *
 * ptc_memory_set_limit (ptcap/memory.h) sets the limit. All functions are thread-safe.
 */
#ifndef PTC_BASE_BUDGET_H
#define PTC_BASE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the budget in bytes. */
uint64_t ptc_budget_limit(void);

/* Returns the bytes that may be allocated now. Slow, because it walks the heap. */
uint64_t ptc_budget_left(void);

/*
 * Return whether @n more bytes may be allocated. Fast if @n is small: the heap is measured only
 * from time to time. The budget can be exceeded by at most 1/64.
 */
bool ptc_budget_allows(uint64_t n);

/*
 * As ptc_budget_allows, for libraries that abort or crash when malloc fails (libdw). Under an
 * RLIMIT_AS more memory must be left than such a library is expected to need.
 */
bool ptc_budget_allows_fragile(uint64_t n);

/* Return whether memory was refused to this thread since its last call. */
bool ptc_budget_refused(void);

/* Add and remove @n bytes outside the heap (of a memfd, of a mapping). */
void ptc_budget_hold(uint64_t n);
void ptc_budget_drop(uint64_t n);

#endif
