/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <string.h>

#include "capture/emu/recorded_code.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const uint8_t others[] = { 1, 2, 3, 4, 9, 6, 7, 8 };

enum { EDGE = 0x5000, N = sizeof(bytes) }; /* a page begins at EDGE */

Test(recorded_code, nothing_is_known_at_first)
{
	const struct ptc_queue_contexts k = { .n = 0 };

	cr_assert_eq(ptc_queue_contexts_look(&k, 0x1000, bytes, N), PTC_QUEUE_CONTEXTS_NOT);
}

/* Tests every position around the end of a page. */
Test(recorded_code, what_was_set_is_the_same_until_it_is_set_to_others)
{
	uint64_t at;

	for (at = EDGE - 2 * N; at <= EDGE + N; at++) {
		struct ptc_queue_contexts k = { .n = 0 };

		cr_assert(ptc_queue_contexts_set(&k, at, bytes, N));
		cr_assert_eq(ptc_queue_contexts_look(&k, at, bytes, N), PTC_QUEUE_CONTEXTS_SAME);
		cr_assert_eq(ptc_queue_contexts_look(&k, at + 1, bytes + 1, 2),
			     PTC_QUEUE_CONTEXTS_SAME);
		cr_assert_eq(ptc_queue_contexts_look(&k, at, others, N), PTC_QUEUE_CONTEXTS_OTHER);
		cr_assert_eq(ptc_queue_contexts_look(&k, at - 1, bytes, 1), PTC_QUEUE_CONTEXTS_NOT);
		cr_assert_eq(ptc_queue_contexts_look(&k, at + 4, bytes + 4, N),
			     PTC_QUEUE_CONTEXTS_NOT, "a part is known, and the same");
		cr_assert(ptc_queue_contexts_set(&k, at, others, N));
		cr_assert_eq(ptc_queue_contexts_look(&k, at, others, N), PTC_QUEUE_CONTEXTS_SAME);
		cr_assert_eq(ptc_queue_contexts_look(&k, at, bytes, N), PTC_QUEUE_CONTEXTS_OTHER);
		ptc_queue_contexts_release(&k);
	}
}

Test(recorded_code, a_copy_goes_its_own_way)
{
	struct ptc_queue_contexts k = { .n = 0 }, copy = { .n = 0 };

	cr_assert(ptc_queue_contexts_set(&k, EDGE - 4, bytes, N));
	cr_assert(ptc_queue_contexts_set(&copy, 0x9000, bytes, N));
	cr_assert(ptc_queue_contexts_copy(&copy, &k));
	cr_assert_eq(ptc_queue_contexts_look(&copy, 0x9000, bytes, N), PTC_QUEUE_CONTEXTS_NOT);
	cr_assert(ptc_queue_contexts_set(&k, EDGE - 4, others, N));
	cr_assert_eq(ptc_queue_contexts_look(&copy, EDGE - 4, bytes, N), PTC_QUEUE_CONTEXTS_SAME);
	ptc_queue_contexts_release(&k);
	ptc_queue_contexts_release(&copy);
}

Test(recorded_code, what_something_else_is_mapped_over_is_forgotten)
{
	struct ptc_queue_contexts k = { .n = 0 };
	uint64_t page;

	for (page = 0x9000; page > 0x1000; page -= 0x1000) /* from the end, to test the order */
		cr_assert(ptc_queue_contexts_set(&k, page, bytes, N));
	ptc_queue_contexts_drop(&k, 0x3000, 0x5000);
	for (page = 0x2000; page <= 0x9000; page += 0x1000)
		cr_assert_eq(ptc_queue_contexts_look(&k, page, bytes, N),
			     page == 0x3000 || page == 0x4000 ? PTC_QUEUE_CONTEXTS_NOT :
								PTC_QUEUE_CONTEXTS_SAME);
	ptc_queue_contexts_drop(&k, 0, UINT64_MAX);
	cr_assert_eq(k.n, 0);
	ptc_queue_contexts_release(&k);
}
