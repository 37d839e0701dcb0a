/* SPDX-License-Identifier: MIT */
/*
 * One budget for all memory of the process. Whoever is about to allocate as much as a file says
 * asks here first. What is in use is measured, not counted: so memory that libelf, libdw and libipt
 * take counts, too, and nothing has to be given back.
 *
 * The limit is ptc_memory_set_limit's (ptcap/memory.h). Any thread may call these functions.
 */
#ifndef PTC_BASE_BUDGET_H
#define PTC_BASE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes: what the budget is. */
uint64_t ptc_budget_limit(void);

/* Bytes that may be allocated now. It walks the heap: not for each allocation. */
uint64_t ptc_budget_left(void);

/*
 * May @n bytes more be allocated? Quick if they are few: the heap is measured only once in a while,
 * so that the budget is exceeded by a sixty-fourth of it at most.
 */
bool ptc_budget_allows(uint64_t n);

/*
 * The same for a library that ends the process, or crashes, where its malloc fails (libdw): under
 * an RLIMIT_AS there must be more than it is expected to need.
 */
bool ptc_budget_allows_fragile(uint64_t n);

/* Has this thread been refused memory since it asked last? */
bool ptc_budget_refused(void);

/* Memory that is not in the heap (of a memfd, of a mapping): @n bytes more, and less again. */
void ptc_budget_hold(uint64_t n);
void ptc_budget_drop(uint64_t n);

#endif
