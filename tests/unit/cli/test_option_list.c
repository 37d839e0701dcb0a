/* SPDX-License-Identifier: MIT */
/* Description: the words that a message expects are the words that completion proposes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/option_list.h"

static const char *words(const char *expected)
{
	static char ret[32];

	ptc_option_words(expected, ret, sizeof(ret));
	return ret;
}

Test(option_list, words_are_read_from_a_list)
{
	cr_expect_str_eq(words("text or json"), "text json");
	cr_expect_str_eq(words("auto, pt, step or emu"), "auto pt step emu");
	cr_expect_str_eq(words("insn-ip or sym"), "insn-ip sym");
	cr_expect_str_eq(words("calls or blocks, and :N for the first N"), "calls blocks");
}

Test(option_list, other_texts_have_no_words)
{
	static const char *const texts[] = { "",
					     "text",
					     "a number",
					     "a size: a number with K, M or G",
					     "text,json or bin",
					     "text or",
					     "text, ",
					     "one or two three",
					     "FROM,TO in seconds",
					     "one or two or three",
					     "or" };
	size_t i;

	cr_expect_str_eq(words(NULL), "");
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect_str_eq(words(texts[i]), "", "%s", texts[i]);
}

Test(option_list, a_list_that_does_not_fit_has_no_words)
{
	char list[2048] = "";
	char small[4];
	int i;

	for (i = 0; i < 100; i++)
		(void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "word, ");
	(void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "word or word");
	cr_expect_str_eq(words(list), "");
	ptc_option_words("a or b", small, sizeof(small));
	cr_expect_str_eq(small, "a b");
	ptc_option_words("a or bc", small, sizeof(small));
	cr_expect_str_eq(small, "");
}
