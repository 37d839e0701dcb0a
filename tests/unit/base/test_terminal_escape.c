/* SPDX-License-Identifier: MIT */
/*
 * Description: control characters and text-direction characters are printed as \xNN, all other text
 * unchanged.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal_escape.h"

static void is(const char *s, const char *want)
{
	char copy[256], *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	ptc_plain_put(f, s);
	(void)fclose(f);
	cr_expect_str_eq(text, want);
	free(text);
	text = ptc_plain_dup(s);
	cr_expect_str_eq(text, want);
	free(text);
	ptc_plain_copy(copy, sizeof(copy), s);
	cr_expect_str_eq(copy, want);
}

Test(terminal_escape, text_is_printed_as_it_is)
{
	is("", "");
	is("/usr/bin/a b\\\"c~", "/usr/bin/a b\\\"c~");
	is("\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
	   "\xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
}

Test(terminal_escape, controls_of_each_kind_are_escaped)
{
	is("\x1b[2J\n\r\t\x7f", "\\x1b[2J\\x0a\\x0d\\x09\\x7f");
	is("\x9b"
	   "2J",
	   "\\x9b2J");
	is("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f\xc2\xa0");
}

Test(terminal_escape, bidirectional_controls_are_escaped)
{
	is("\xe2\x80\xaa\xe2\x80\xae", "\\xe2\\x80\\xaa\\xe2\\x80\\xae"); /* U+202A, U+202E */
	is("\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9"); /* U+2066, U+2069 */
	is("\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\xe2\\x80\\x8e\\xe2\\x80\\x8f\\xd8\\x9c");
	is("\xe2\x80\x8d\xe2\x80\x90\xe2\x81\xaa",
	   "\xe2\x80\x8d\xe2\x80\x90\xe2\x81\xaa"); /* neighbouring characters */
}

Test(terminal_escape, what_is_not_utf_8_is_escaped)
{
	is("\xe9t\xe9", "\\xe9t\\xe9");
	is("a\xc2", "a\\xc2");
	is("\xe2\x80", "\\xe2\\x80");
	is("\xc1\x9b", "\\xc1\\x9b");	       /* ESC etc. in overlong form */
	is("\xe0\x82\x9b", "\\xe0\\x82\\x9b"); /* U+009B, overlong */
	is("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
	is("\xf4\x90\x80\x80\xff", "\\xf4\\x90\\x80\\x80\\xff");
}

Test(terminal_escape, a_copy_is_cut_between_characters)
{
	static const char s[] = "ab\xc3\xa9\x1b";
	static const char *const cut[] = { NULL, "", "a", "ab", "ab", "ab\xc3\xa9", "ab\xc3\xa9" };
	size_t size;

	for (size = 1; size < sizeof(cut) / sizeof(cut[0]); size++) {
		char *ret = malloc(size); /* exact size */

		ptc_plain_copy(ret, size, s);
		cr_expect_str_eq(ret, cut[size]);
		free(ret);
	}
}

Test(terminal_escape, json_keeps_its_value)
{
	char *json = ptc_plain_json("{\n \"a\": \"\xc2\x9b\x7f\xe2\x80\xae\xc3\xa9\\u001b\"\n}");

	cr_expect_str_eq(json, "{\n \"a\": \"\\u009b\\u007f\\u202e\xc3\xa9\\u001b\"\n}");
	free(json);
}

Test(terminal_escape, all_but_ascii_is_escaped_where_that_is_asked_for)
{
	char *json;

	ptc_plain_set_ascii(true, false);
	is("a\xc3\xa9\xf0\x9f\x98\x80~", "a\\xc3\\xa9\\xf0\\x9f\\x98\\x80~");
	json = ptc_plain_json("\"a\xc3\xa9\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\"");
	cr_expect_str_eq(json, "\"a\\u00e9\\ud83d\\ude00\\udbff\\udfff\"");
	free(json);
	ptc_plain_set_ascii(false, true);
	is("\xc3\xa9", "\xc3\xa9");
}

static void takes(const char *s, size_t columns)
{
	size_t width;

	cr_expect_eq(ptc_plain_width(s), columns, "'%s' takes %zu columns", s, ptc_plain_width(s));
	cr_expect_eq(ptc_plain_fit(s, columns), strlen(s), "'%s' does not fit", s);
	for (width = 0; width < columns; width++) {
		const size_t n = ptc_plain_fit(s, width);

		cr_expect_lt(n, strlen(s), "'%s' fits %zu columns", s, width);
		cr_expect((s[n] & 0xc0) != 0x80 || (s[0] & 0x80), "'%s' is cut in a character", s);
	}
}

Test(terminal_escape, columns_count_escapes_and_wide_characters)
{
	takes("", 0);
	takes("main", 4);
	takes("h\xc3\xa9", 2);
	takes("\xe6\xbc\xa2\xe5\xad\x97", 4);
	takes("\x1b[2J", 7);
	takes("a\xff", 5);
	takes("a\xe2\x80\xae", 13);
	cr_expect_eq(ptc_plain_fit("\xe6\xbc\xa2\xe5\xad\x97", 3), 3);
	cr_expect_eq(ptc_plain_fit("a\x1bz", 4), 1);
}
