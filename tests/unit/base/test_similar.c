/* SPDX-License-Identifier: MIT */
/* Description: edit distances, and the names that a message proposes for a mistyped name. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/similar.h"

static unsigned int distance(const char *a, const char *b, unsigned int limit)
{
	return ptc_edit_distance(a, strlen(a), b, strlen(b), limit);
}

Test(similar, distance_counts_each_edit_once)
{
	cr_expect_eq(distance("", "", 3), 0);
	cr_expect_eq(distance("record", "record", 3), 0);
	cr_expect_eq(distance("recrod", "record", 3), 1, "a swap of neighbours is one edit");
	cr_expect_eq(distance("ercrod", "record", 3), 2);
	cr_expect_eq(distance("recod", "record", 3), 1);
	cr_expect_eq(distance("reccord", "record", 3), 1);
	cr_expect_eq(distance("xecord", "record", 3), 1);
	cr_expect_eq(distance("", "abc", 3), 3);
	cr_expect_eq(distance("kitten", "sitting", 3), 3);
}

Test(similar, distance_is_symmetric)
{
	static const char *const words[] = { "", "a", "ab", "ba", "main", "mian", "amin", "strip" };
	size_t i, j;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (j = 0; j < sizeof(words) / sizeof(words[0]); j++)
			cr_expect_eq(distance(words[i], words[j], 9),
				     distance(words[j], words[i], 9), "%s, %s", words[i], words[j]);
}

Test(similar, distance_ends_behind_the_limit)
{
	char longest[PTC_SIMILAR_LEN + 2];

	cr_expect_eq(distance("kitten", "sitting", 2), 3);
	cr_expect_eq(distance("abcdefgh", "", 2), 3);
	cr_expect_eq(distance("aaaaaaaa", "bbbbbbbb", 2), 3);
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	cr_expect_eq(distance(longest, longest, 2), 3, "too long to be compared");
	cr_expect_eq(distance(longest + 1, longest + 1, 2), 0);
}

Test(similar, swap_at_the_limit_is_found)
{
	/* Row by row the least distance is above the limit before the swap is seen. */
	cr_expect_eq(distance("ab", "ba", 1), 1);
	cr_expect_eq(distance("xabab", "xbaab", 1), 1);
}

static const char *proposed(const char *wanted, const char *const *names)
{
	static struct ptc_similar s;

	ptc_similar_begin(&s, wanted);
	for (; *names; names++)
		ptc_similar_add(&s, *names);
	return ptc_similar_text(&s);
}

Test(similar, message_names_what_is_similar)
{
	static const char *const commands[] = { "record", "snapshot", "decode", "recover", NULL };
	static const char *const functions[] = { "sqlite3VdbeExec", "sqlite3VdbeList", "main",
						 NULL };

	cr_expect_str_eq(proposed("recrod", commands), " (did you mean 'record'?)");
	cr_expect_str_eq(proposed("snapshto", commands), " (did you mean 'snapshot'?)");
	cr_expect_str_eq(proposed("sqlite3VdbeExe", functions),
			 " (did you mean 'sqlite3VdbeExec'?)");
	cr_expect_str_eq(proposed("mian", functions), " (did you mean 'main'?)");
	cr_expect_str_eq(proposed("frobnicate", commands), "");
	cr_expect_str_eq(proposed("", commands), "");
}

Test(similar, at_most_three_names_the_most_similar_first)
{
	static const char *const many[] = { "fast_three", "fast_twoo", "fast_to", "fast_tw",
					    "fast_twos",  "fast_twos", NULL };
	static const char *const two[] = { "total_b", "total_a", NULL };

	cr_expect_str_eq(proposed("fast_two", many),
			 " (did you mean 'fast_twoo', 'fast_to' or 'fast_tw'?)");
	cr_expect_str_eq(proposed("total_c", two), " (did you mean 'total_b' or 'total_a'?)");
}

Test(similar, nearer_name_displaces_a_farther_one)
{
	static const char *const names[] = { "abcdefxyz", "abcdefgxy", "abcdefghx", "abcdefghj",
					     NULL };

	cr_expect_str_eq(proposed("abcdefghi", names),
			 " (did you mean 'abcdefghx', 'abcdefghj' or 'abcdefgxy'?)");
}

Test(similar, name_itself_in_a_part_of_a_text)
{
	static struct ptc_similar s;

	ptc_similar_begin(&s, "ns::fall");
	ptc_similar_add_part(&s, "ns::fail(int, char)", strlen("ns::fail"));
	cr_expect_str_eq(ptc_similar_text(&s), " (did you mean 'ns::fail'?)");
}

Test(similar, longest_names_fit_in_the_message)
{
	static char names[4][PTC_SIMILAR_LEN + 1];
	static struct ptc_similar s;
	char wanted[PTC_SIMILAR_LEN + 1];
	size_t i;

	memset(wanted, 'a', PTC_SIMILAR_LEN);
	wanted[PTC_SIMILAR_LEN] = '\0';
	ptc_similar_begin(&s, wanted);
	for (i = 0; i < 4; i++) {
		memcpy(names[i], wanted, sizeof(wanted));
		names[i][i] = 'b';
		ptc_similar_add(&s, names[i]);
	}
	cr_expect_eq(strlen(ptc_similar_text(&s)),
		     strlen(" (did you mean '', '' or ''?)") + (size_t)3 * PTC_SIMILAR_LEN);
}

Test(similar, plurals)
{
	cr_expect_str_eq(ptc_plural(0), "s");
	cr_expect_str_eq(ptc_plural(1), "");
	cr_expect_str_eq(ptc_plural(2), "s");
	cr_expect_str_eq(ptc_plural_es(1), "");
	cr_expect_str_eq(ptc_plural_es(3), "es");
}
