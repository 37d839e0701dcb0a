/* SPDX-License-Identifier: MIT */
/* Description: the pages for which a recording has code itself. */
#include <criterion/criterion.h>

#include "decode/sideband/poked_pages.h"

Test(poked_pages, none_has_nothing)
{
	struct ptc_poked_pages p = { .n = 0 };

	cr_assert_not(ptc_poked_pages_have(&p, 0, UINT64_MAX, 0, UINT64_MAX));
	ptc_poked_pages_release(&p);
}

Test(poked_pages, a_page_is_had_by_whatever_touches_it)
{
	struct ptc_poked_pages p = { .n = 0 };

	cr_assert(ptc_poked_pages_add(&p, 0x7000fff, 2, 5)); /* two pages */
	cr_assert(ptc_poked_pages_add(&p, 0x1000, 1, 5));
	cr_assert(ptc_poked_pages_add(&p, 0x1800, 0, 5));
	cr_assert(ptc_poked_pages_add(&p, UINT64_MAX, 9, 5));
	cr_assert(ptc_poked_pages_have(&p, 0x1fff, 1, 0, UINT64_MAX));
	cr_assert(ptc_poked_pages_have(&p, 0x7001000, 1, 0, UINT64_MAX));
	cr_assert(ptc_poked_pages_have(&p, 0x6fff000, 0x1001, 0, UINT64_MAX));
	cr_assert(ptc_poked_pages_have(&p, UINT64_MAX - 1, 100, 0, UINT64_MAX));
	cr_assert_not(ptc_poked_pages_have(&p, 0xfff, 1, 0, UINT64_MAX));
	cr_assert_not(ptc_poked_pages_have(&p, 0x2000, 0x1000, 0, UINT64_MAX));
	cr_assert_not(ptc_poked_pages_have(&p, 0x7002000, 1, 0, UINT64_MAX));
	/* A page added later is found, too. */
	cr_assert(ptc_poked_pages_add(&p, 0x2000, 1, 5));
	cr_assert(ptc_poked_pages_have(&p, 0x2000, 0x1000, 0, UINT64_MAX));
	ptc_poked_pages_release(&p);
}

Test(poked_pages, a_page_is_had_from_one_time_to_another)
{
	struct ptc_poked_pages p = { .n = 0 };

	cr_assert(ptc_poked_pages_add(&p, 0x1000, 1, 10));
	cr_assert(ptc_poked_pages_add(&p, 0x1000, 1, 30));
	cr_assert(ptc_poked_pages_add(&p, 0x3000, 1, 20));
	cr_assert(ptc_poked_pages_have(&p, 0x1000, 1, 0, 10));
	cr_assert(ptc_poked_pages_have(&p, 0x1000, 1, 11, 30));
	cr_assert_not(ptc_poked_pages_have(&p, 0x1000, 1, 11, 29));
	cr_assert_not(ptc_poked_pages_have(&p, 0x1000, 0x1000, 31, UINT64_MAX));
	/* Behind a page with another time. */
	cr_assert(ptc_poked_pages_have(&p, 0x1000, 0x3000, 15, 25));
	cr_assert_not(ptc_poked_pages_have(&p, 0x1000, 0x3000, 31, UINT64_MAX));
	cr_assert_not(ptc_poked_pages_have(&p, 0x1000, 0x3000, 21, 29));
	ptc_poked_pages_release(&p);
}
