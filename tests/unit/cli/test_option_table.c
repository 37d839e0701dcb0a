/* SPDX-License-Identifier: MIT */
/* Description: a table of options drives the parsing and --help. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"
#include "cli/common/option_table.h"

struct values {
	bool flag, json;
	const char *text, *level;
	uint64_t count;
	int levels;
};

static int take_level(void *args, const char *value)
{
	struct values *v = args;

	v->level = value;
	v->levels++;
	return value && !strcmp(value, "0") ? PTC_EXIT_USAGE : -1;
}

static const struct ptc_option options[] = {
	PTC_HEADING("First:"),
	{ "flag", 'f', NULL, "Set the flag.", PTC_FLAG(struct values, flag) },
	{ "text", 't', "TEXT", "Set the text to TEXT.", PTC_TEXT(struct values, text) },
	{ "count", 0, "N",
	  "Set the number to N. This sentence is so long that it is continued in the next line.",
	  PTC_PARSED(struct values, count, ptc_take_count, "a number") },
	{ "a-name-that-is-long", 'l', "[LEVEL]", "Take a level.\nAnother line.",
	  .take = take_level },
	PTC_HEADING("Second:"),
	PTC_OPTION_FORMAT(struct values, json, "Print text or json."),
	PTC_OPTION_HELP,
	{ "count", 0, "N:M", "Set two numbers.", .does = PTC_SHOWN },
	PTC_OPTIONS_END,
};

static const struct ptc_option_table table = {
	.command = "x",
	.usage = "usage: ptcap x [OPTIONS]\n",
	.options = options,
	.notes = "The end.\n",
};

enum { WORDS_MAX = 8 };

/* Parses the words, up to NULL, with @t. */
static int parse(const struct ptc_option_table *t, struct values *v, const char *const *words)
{
	static char copies[WORDS_MAX + 1][64];
	char *argv[WORDS_MAX + 2] = { copies[0] };
	int n = 1;

	for (; *words; words++, n++) {
		(void)snprintf(copies[n], sizeof(copies[n]), "%s", *words);
		argv[n] = copies[n];
	}
	optind = 0; /* getopt_long begins anew */
	memset(v, 0, sizeof(*v));
	return ptc_options_parse(t, n, argv, v);
}

#define PARSE(v, ...) parse(&table, v, (const char *const[]){ __VA_ARGS__, NULL })

Test(option_table, every_kind_of_option_sets_its_member)
{
	struct values v;

	cr_assert_eq(PARSE(&v, "-f", "-t", "a", "--count=3k", "--format", "json"), -1);
	cr_assert(v.flag && v.json && v.count == 3000);
	cr_assert_eq(PARSE(&v, "-l", "--a-name-that-is-long=7"), -1);
	cr_assert_eq(v.levels, 2);
	cr_assert_eq(PARSE(&v, "-l9", "rest"), -1);
	cr_assert_eq(v.levels, 1);
	cr_assert_eq(PARSE(&v, "--flag", "--", "--count"), -1, "-- ends the options");
	cr_assert_eq(PARSE(&v, "--a-name=0"), PTC_EXIT_USAGE, "a function ends the parsing");
}

Test(option_table, a_command_ends_the_options)
{
	struct ptc_option_table t = table;
	struct values v;

	t.runs_command = true;
	cr_assert_eq(parse(&t, &v, (const char *const[]){ "true", "--flag", NULL }), -1);
	cr_assert(!v.flag && optind == 1);
	cr_assert_eq(PARSE(&v, "true", "--flag"), -1);
	cr_assert(v.flag);
}

Test(option_table, wrong_options_and_values_are_named, .init = cr_redirect_stderr)
{
	struct values v;

	cr_assert_eq(PARSE(&v, "--count=0"), PTC_EXIT_USAGE);
	cr_assert_eq(PARSE(&v, "--coutn=1"), PTC_EXIT_USAGE);
	cr_assert_eq(PARSE(&v, "--flag=1"), PTC_EXIT_USAGE);
	cr_assert_eq(PARSE(&v, "-q"), PTC_EXIT_USAGE);
	cr_assert_eq(PARSE(&v, "--text"), PTC_EXIT_USAGE);
	cr_assert_eq(PARSE(&v, "--f"), PTC_EXIT_USAGE);
	cr_assert_stderr_eq_str(
		"ptcap x: invalid value '0' for --count: expected a number; see `ptcap x --help`\n"
		"ptcap x: unknown option '--coutn' (did you mean '--count'?); see `ptcap x "
		"--help`\n"
		"ptcap x: option '--flag' takes no value; see `ptcap x --help`\n"
		"ptcap x: unknown option '-q'; see `ptcap x --help`\n"
		"ptcap x: option '--text' needs a value; see `ptcap x --help`\n"
		"ptcap x: ambiguous option '--f'; see `ptcap x --help`\n");
}

Test(option_table, the_help_shows_the_table, .init = cr_redirect_stdout)
{
	struct values v;

	cr_assert_eq(PARSE(&v, "--help", "--nonsense"), PTC_EXIT_OK);
	fflush(stdout);
	cr_assert_stdout_eq_str(
		"usage: ptcap x [OPTIONS]\n"
		"\n"
		"First:\n"
		"  -f, --flag            Set the flag.\n"
		"  -t, --text=TEXT       Set the text to TEXT.\n"
		"      --count=N         Set the number to N. This sentence is so long that it\n"
		"                        is continued in the next line.\n"
		"  -l, --a-name-that-is-long[=LEVEL]\n"
		"                        Take a level.\n"
		"                        Another line.\n"
		"\n"
		"Second:\n"
		"      --format=FORMAT   Print text or json.\n"
		"  -h, --help            Print this text.\n"
		"      --count=N:M       Set two numbers.\n"
		"\n"
		"The end.\n");
}
