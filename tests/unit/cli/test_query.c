/* SPDX-License-Identifier: MIT */
/* Description: the query of a request. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cli/serve/query.h"

static struct ptc_query of(const char *text)
{
	return (struct ptc_query){ text, strlen(text) };
}

Test(query, numbers_have_keys_and_limits)
{
	uint64_t v = 7;

	cr_assert(ptc_query_number(of("a=1&bc=23&b=4"), "b", 9, &v) && v == 4);
	cr_assert(ptc_query_number(of("a=0"), "a", 0, &v) && v == 0);
	cr_assert(ptc_query_number(of("a=9007199254740992"), "a", PTC_QUERY_MAX, &v) &&
		  v == PTC_QUERY_MAX);
	v = 7;
	cr_assert(!ptc_query_number(of("a=9007199254740993"), "a", PTC_QUERY_MAX, &v));
	cr_assert(!ptc_query_number(of("a=99999999999999999999999999"), "a", PTC_QUERY_MAX, &v));
	cr_assert(!ptc_query_number(of("a=10"), "a", 9, &v));
	cr_assert(!ptc_query_number(of("a=&b=1"), "a", 9, &v));
	cr_assert(!ptc_query_number(of("a"), "a", 9, &v));
	cr_assert(!ptc_query_number(of(""), "a", 9, &v));
	cr_assert(!ptc_query_number(of("a=-1"), "a", 9, &v));
	cr_assert(!ptc_query_number(of("a=1x"), "a", 9, &v));
	cr_assert(!ptc_query_number(of("a= 1"), "a", 9, &v));
	cr_assert_eq(v, 7, "a failure changes nothing");
}

Test(query, lists_grow_and_stay_in_their_limits)
{
	uint32_t v[8];
	size_t n = 9;

	cr_assert(ptc_query_list(of("f=0,3-5,9"), "f", 10, v, 8, &n) && n == 5);
	cr_assert(v[0] == 0 && v[1] == 3 && v[3] == 5 && v[4] == 9);
	n = 9;
	cr_assert(!ptc_query_list(of("f=0,3-5,9"), "f", 10, v, 4, &n));
	cr_assert(!ptc_query_list(of("f=10"), "f", 10, v, 8, &n));
	cr_assert(!ptc_query_list(of("f=3,3"), "f", 10, v, 8, &n));
	cr_assert(!ptc_query_list(of("f=5-3"), "f", 10, v, 8, &n));
	cr_assert(!ptc_query_list(of("f=1,"), "f", 10, v, 8, &n));
	cr_assert(!ptc_query_list(of("f=,1"), "f", 10, v, 8, &n));
	cr_assert(!ptc_query_list(of("f=1-"), "f", 10, v, 8, &n));
	cr_assert(!ptc_query_list(of("f=1;2"), "f", 10, v, 8, &n));
	cr_assert(!ptc_query_list(of("f=0-4294967295"), "f", UINT32_MAX, v, 8, &n));
	cr_assert(!ptc_query_list(of("f=0"), "f", 0, v, 8, &n));
	cr_assert_eq(n, 9, "a failure changes nothing");
}

/* Cut at each length: no read beyond the end. */
Test(query, cut_queries_are_read_to_their_end)
{
	static const char text[] = "axis=1&f=1,2-4,7&from=123";
	size_t n, found;
	uint32_t v[8];
	uint64_t number;

	for (n = 0; n <= sizeof(text) - 1; n++) {
		char *bytes = malloc(n ? n : 1);

		cr_assert(bytes);
		memcpy(bytes, text, n);
		(void)ptc_query_number((struct ptc_query){ bytes, n }, "from", 999, &number);
		(void)ptc_query_list((struct ptc_query){ bytes, n }, "f", 9, v, 8, &found);
		free(bytes);
	}
}
