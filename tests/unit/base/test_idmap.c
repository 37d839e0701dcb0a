/* SPDX-License-Identifier: MIT */
/* Description: a hash map from pids to array indexes. */
#include <criterion/criterion.h>

#include "base/idmap.h"

Test(idmap, a_place_is_found_by_its_number)
{
	enum { MANY = 5000 };
	struct ptc_idmap m = { .n = 0 };
	int32_t i;

	cr_assert_eq(ptc_idmap_find(&m, 0), SIZE_MAX);
	for (i = 0; i < MANY; i++)
		cr_assert(ptc_idmap_add(&m, i % 2 ? -i : i * 4096, (size_t)i));
	for (i = 0; i < MANY; i++)
		cr_assert_eq(ptc_idmap_find(&m, i % 2 ? -i : i * 4096), (size_t)i);
	cr_assert_eq(ptc_idmap_find(&m, 1), SIZE_MAX);
	ptc_idmap_release(&m);
	cr_assert_eq(ptc_idmap_find(&m, 0), SIZE_MAX);
}
