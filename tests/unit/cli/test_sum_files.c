/* SPDX-License-Identifier: MIT */
/* Description: files of all formats of `ptcap sum`: whole, cut, spoilt, mixed. */
#include <jansson.h>

#include "fewer.h"
#include "sum_case.h"

Test(sum_files, the_sum_of_one_file_is_the_file)
{
	size_t i;

	for (i = 0; i < SUM_SAMPLES; i++) {
		char *got = sum_of(sum_samples[i].text, NULL);

		if (strcmp(sum_samples[i].name, "crash") != 0)
			cr_expect_str_eq(got, sum_samples[i].text, "%s:\n%s", sum_samples[i].name,
					 got);
		sum_is(got, NULL, got);
		free(got);
	}
}

Test(sum_files, the_sum_of_sums_is_the_sum)
{
	size_t i;

	for (i = 0; i < SUM_SAMPLES; i++) {
		const char *text = sum_samples[i].text;
		char *two = sum_of(text, text), *four = sum_of(two, two),
		     *three = sum_of(two, text);
		char *again = sum_of(three, text), *other = sum_of(text, three);

		cr_expect_str_eq(four, again, "%s", sum_samples[i].name);
		cr_expect_str_eq(four, other, "%s", sum_samples[i].name);
		free(two);
		free(three);
		free(four);
		free(again);
		free(other);
	}
}

/* A file that is cut anywhere is refused, except between lines that do not depend on each other. */
Test(sum_files, cut_files_are_refused)
{
	size_t i, n;

	for (i = 0; i < SUM_SAMPLES; i++) {
		const char *text = sum_samples[i].text;
		const size_t len = strlen(text);

		for (n = 1; n < len; n++) {
			const bool between = text[n - 1] == '\n' && sum_samples[i].is_open;
			/* The file with missing code is behind all that the head counts. */
			const bool behind = !strncmp(text + n, "{\"type\":\"missing\"", 17);
			struct ptc_sum s = { .format = NULL };
			struct ptc_err err = { .msg = "" };
			const int rc = sum_add(&s, "cut", text, n, &err);

			cr_expect(rc < 0 || between || behind, "%s cut at %zu is accepted",
				  sum_samples[i].name, n);
			cr_expect(!rc || strstr(err.msg, "'cut' line "), "%s", err.msg);
			ptc_sum_release(&s);
		}
	}
}

/* No change of one byte, at any place, makes the adders read beyond their memory. */
Test(sum_files, spoilt_files_are_added_or_refused)
{
	static const char bytes[] = { '9', '"', '\n', ' ', '(', '-', '\xff', 0 };
	enum { STEP = FEWER(1, 3) };
	size_t i, n, k;

	for (i = 0; i < SUM_SAMPLES; i++) {
		const size_t len = strlen(sum_samples[i].text);
		char *text = strdup(sum_samples[i].text);

		cr_assert(text);
		for (n = i % STEP; n < len; n += STEP)
			for (k = 0; k < sizeof(bytes); k++) {
				const char was = text[n];
				struct ptc_sum s = { .format = NULL };
				struct ptc_err err = { .msg = "" };

				text[n] = bytes[k];
				if (!sum_add(&s, "spoilt", text, len, &err) && s.format)
					free(sum_printed(&s, false, 0));
				ptc_sum_release(&s);
				text[n] = was;
			}
		free(text);
	}
}

/* Adds the file @before, @o and a newline, and @behind. */
static void add_object(const char *name, const char *before, json_t *o, const char *behind)
{
	char *line = json_dumps(o, JSON_COMPACT), *text;
	struct ptc_sum s = { .format = NULL };
	struct ptc_err err = { .msg = "" };

	cr_assert(line && asprintf(&text, "%s%s\n%s", before, line, behind) >= 0);
	if (!sum_add(&s, "typed", text, strlen(text), &err)) {
		if (s.format)
			free(sum_printed(&s, false, 0));
	} else {
		cr_expect(strstr(err.msg, "'typed' line "), "%s: %s", name, err.msg);
	}
	ptc_sum_release(&s);
	free(line);
	free(text);
}

/* Gives each member of @o, an object in @whole, each type. */
static void change_types(const char *name, const char *before, json_t *whole, json_t *o,
			 const char *behind)
{
	static const char *const others[] = { "null", "\"x\"",	 "\"\"", "-1",	      "1.5", "[]",
					      "[1]",  "[[2,1]]", "{}",	 "{\"x\":1}", "true" };
	const char *key;
	json_t *members = json_copy(o), *v;
	size_t i;

	cr_assert(members);
	json_object_foreach(members, key, v)
	{
		for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
			cr_assert(!json_object_set_new(
				o, key, json_loads(others[i], JSON_DECODE_ANY, NULL)));
			add_object(name, before, whole, behind);
		}
		cr_assert(!json_object_del(o, key));
		add_object(name, before, whole, behind);
		cr_assert(!json_object_set(o, key, v));
		if (json_is_object(v))
			change_types(name, before, whole, v, behind);
	}
	json_decref(members);
}

Test(sum_files, members_of_each_type_are_added_or_refused)
{
	size_t i;

	for (i = 0; i < SUM_SAMPLES; i++) {
		const char *text = sum_samples[i].text, *at, *end;

		if (*text != '{')
			continue;
		for (at = text; *at; at = end + 1) {
			json_t *o;
			char *before;

			end = strchr(at, '\n');
			o = json_loadb(at, (size_t)(end - at), 0, NULL);
			before = strndup(text, (size_t)(at - text));
			cr_assert(o && before);
			change_types(sum_samples[i].name, before, o, o, end + 1);
			json_decref(o);
			free(before);
		}
	}
}

Test(sum_files, files_of_two_formats_are_refused)
{
	size_t i, k;

	for (i = 0; i < SUM_SAMPLES; i++)
		for (k = 0; k < SUM_SAMPLES; k++)
			if (i != k)
				sum_fails(sum_samples[i].text, sum_samples[k].text, "'two' line ");
	sum_fails(FOLDED, LCOV,
		  "'two' line 1: an lcov file (decode --format lcov), but 'one' is "
		  "folded stacks");
	sum_fails("hello\n", NULL, "'one' line 1: not an output that can be added");
	sum_fails("{\"schema\":\"ptcap-info\"}\n", NULL, "'one' line 1: not an output");
	sum_fails("{\n", NULL, "'one' line 1: not an output");
	sum_fails(FOLDED "a 7", NULL, "'one' line 3: the file ends inside the line");
}

Test(sum_files, an_empty_file_adds_nothing_to_formats_without_a_head)
{
	sum_is(FOLDED, "", FOLDED);
	sum_is(BOLT, "", BOLT);
	sum_is(LCOV, "", LCOV);
	sum_fails(EDGES, "", "'two' line 0");
	sum_fails(PROFGEN, "", "'two' line 0");
	sum_fails(CALLGRIND, "", "'two' line 0");
}

Test(sum_files, a_line_has_a_limit)
{
	const size_t len = (size_t)17 << 20;
	char *text = malloc(len);
	struct ptc_sum s = { .format = NULL };
	struct ptc_err err = { .msg = "" };

	cr_assert(text);
	memset(text, 'a', len);
	cr_expect_lt(sum_add(&s, "long", text, len, &err), 0);
	cr_expect(strstr(err.msg, "'long' line 1: the line has more than 16 MiB"), "%s", err.msg);
	ptc_sum_release(&s);
	free(text);
}
