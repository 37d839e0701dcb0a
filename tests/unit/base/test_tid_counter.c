/* SPDX-License-Identifier: MIT */
/* Description: each thread has a count of its own, in any order. */
#include <criterion/criterion.h>

#include "base/tid_counter.h"

Test(tid_counter, each_thread_has_a_count_of_its_own)
{
	static const int32_t tids[] = { 7, 3, 9, 7, -1, 3, 8, 7 };
	static const struct ptc_tid_counter_entry want[] = {
		{ -1, 1 }, { 3, 2 }, { 7, 3 }, { 8, 1 }, { 9, 1 }
	};
	struct ptc_tid_counter t = { NULL, 0, 0, 0 };
	size_t i;

	for (i = 0; i < sizeof(tids) / sizeof(tids[0]); i++)
		++*ptc_tid_counter_of(&t, tids[i]);
	cr_assert_eq(t.n, sizeof(want) / sizeof(want[0]));
	for (i = 0; i < t.n; i++) {
		cr_assert_eq(t.entries[i].tid, want[i].tid);
		cr_assert_eq(*ptc_tid_counter_of(&t, want[i].tid), want[i].n, "thread %d",
			     want[i].tid);
	}
	ptc_tid_counter_release(&t);
	cr_assert_eq(*ptc_tid_counter_of(&t, 7), 0);
	ptc_tid_counter_release(&t);
}
