/* SPDX-License-Identifier: MIT */
/* Description: circles of threads that wait for each other, each once, from the lowest number on.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "decode/stacks/deadlock.h"

#define NONE PTC_WAITS_FOR_NONE

static struct ptc_deadlocks find(const size_t *waits_for, size_t n)
{
	struct ptc_deadlocks d = { .n = 0 };
	struct ptc_err err;

	cr_assert_eq(ptc_deadlocks_find(waits_for, n, &d, &err), 0);
	return d;
}

Test(deadlock, a_chain_without_an_end_in_itself_is_none)
{
	static const size_t chain[] = { 1, 2, NONE, 2 };
	struct ptc_deadlocks d = find(chain, 4);

	cr_assert_eq(d.n, 0);
	ptc_deadlocks_release(&d);
	d = find(NULL, 0);
	cr_assert_eq(d.n, 0);
	ptc_deadlocks_release(&d);
}

Test(deadlock, each_circle_is_found_once_without_the_threads_that_lead_to_it)
{
	/* 0 -> 4 -> 2 -> 3 -> 2; 1 -> 1; 5 -> 6 -> 7 -> 5 */
	static const size_t waits[] = { 4, 1, 3, 2, 2, 6, 7, 5 };
	static const size_t threads[] = { 2, 3, 1, 5, 6, 7 };
	struct ptc_deadlocks d = find(waits, 8);

	cr_assert_eq(d.n, 3);
	cr_assert(d.begins[0] == 0 && d.begins[1] == 2 && d.begins[2] == 3 && d.begins[3] == 6);
	cr_assert_eq(memcmp(d.threads, threads, sizeof(threads)), 0);
	ptc_deadlocks_release(&d);
}

Test(deadlock, a_circle_of_all_begins_with_the_lowest_number)
{
	static const size_t waits[] = { 2, 0, 1 };
	static const size_t threads[] = { 0, 2, 1 };
	struct ptc_deadlocks d = find(waits, 3);

	cr_assert(d.n == 1 && !memcmp(d.threads, threads, sizeof(threads)));
	ptc_deadlocks_release(&d);
}
