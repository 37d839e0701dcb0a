/* SPDX-License-Identifier: MIT */
/*
 * Description: the process's allocations count against the memory limit, and larger requests are
 * refused.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/vec.h"
#include "ptcap/memory.h"

#define MIB ((uint64_t)1 << 20)

/* Sets the limit so that the budget has @n bytes left. */
static void leave(uint64_t n)
{
	ptc_memory_set_limit((uint64_t)1 << 40);
	ptc_memory_set_limit(((uint64_t)1 << 40) - ptc_budget_left() + n);
}

Test(budget, the_default_is_a_quarter_of_the_memory)
{
	const uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t most = 4096 * MIB, quarter = all / 4;

	ptc_memory_set_limit(0);
	cr_assert_eq(ptc_budget_limit(), quarter < most ? quarter : most);
	ptc_memory_set_limit(7);
	cr_assert_eq(ptc_budget_limit(), 7);
}

Test(budget, memory_that_anybody_allocates_counts)
{
	char *p;

	leave(64 * MIB);
	p = malloc(40 * MIB);
	cr_assert_not_null(p);
	cr_assert(ptc_budget_left() <= 24 * MIB);
	cr_assert(!ptc_budget_allows(25 * MIB));
	free(p);
	cr_assert(ptc_budget_left() > 60 * MIB);
	cr_assert(ptc_budget_allows(25 * MIB));
}

Test(budget, what_was_not_touched_counts)
{
	char *p;

	leave(64 * MIB);
	p = calloc(1, 60 * MIB);
	cr_assert_not_null(p);
	cr_assert(!ptc_budget_allows(5 * MIB));
	free(p);
}

Test(budget, small_allocations_come_to_the_limit)
{
	const uint64_t each = 100;
	void *last = NULL; /* each block begins with the address of the previous one */
	uint64_t n = 0;

	leave(8 * MIB);
	for (; ptc_budget_allows(each) && n < 16 * MIB; n += each) {
		void *p = malloc(each);

		cr_assert_not_null(p);
		memcpy(p, &last, sizeof(last));
		last = p;
	}
	while (last) {
		void *p = last;

		memcpy(&last, p, sizeof(last));
		free(p);
	}
	/*
	 * An allocation takes more than the requested size, but wastes less than half of the limit.
	 */
	cr_assert(n > 4 * MIB, "%llu", (unsigned long long)n);
	cr_assert(n < 9 * MIB, "%llu", (unsigned long long)n);
}

Test(budget, memory_outside_the_heap_is_held)
{
	leave(64 * MIB);
	ptc_budget_hold(60 * MIB);
	cr_assert(!ptc_budget_allows(5 * MIB));
	ptc_budget_drop(60 * MIB);
	cr_assert(ptc_budget_allows(5 * MIB));
}

Test(budget, a_limit_of_addresses_counts)
{
	struct rlimit r;

	ptc_memory_set_limit((uint64_t)1 << 40);
	cr_assert_eq(getrlimit(RLIMIT_AS, &r), 0);
	r.rlim_cur = 1; /* less than the process uses */
	cr_assert_eq(setrlimit(RLIMIT_AS, &r), 0);
	cr_assert_eq(ptc_budget_left(), 0);
	r.rlim_cur = r.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_AS, &r), 0);
	cr_assert_neq(ptc_budget_left(), 0);
}

Test(budget, an_array_does_not_grow_over_it)
{
	size_t cap = 0;
	void *v = NULL;

	leave(MIB);
	cr_assert(!ptc_vec_reserve(&v, &cap, 2 * MIB, 1));
	cr_assert(!ptc_vec_reserve_lines(&v, &cap, 2 * MIB / PTC_VEC_LINE));
	cr_assert(ptc_vec_reserve(&v, &cap, MIB / 4, 1));
	free(v);
}
