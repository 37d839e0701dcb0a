/* SPDX-License-Identifier: MIT */
#include "cli/common/option_table.h"

#include <assert.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/similar.h"
#include "cli/common/cli.h"
#include "cli/common/option_list.h"
#include "ptcap/memory.h"

/* FIRST_ID: value of the first long option for getopt_long, behind all letters. */
enum { MAX_OPTIONS = 64, FIRST_ID = 256 };

/* The columns of --help: where the sentences begin, and the width of a line. */
enum { HELP_COLUMN = 24, HELP_WIDTH = 79 };

bool ptc_option_is_handled(const struct ptc_option *o)
{
	return o->name && (o->does != PTC_SHOWN || o->take || o->prints_help);
}

/* --help */

/* Begins a new line at column HELP_COLUMN. */
static void begin_line(void)
{
	printf("\n%*s", HELP_COLUMN, "");
}

/* Returns the length of the word at @s. A text in backquotes is one word. */
static size_t word_length(const char *s)
{
	const char *quote = *s == '`' ? strchr(s + 1, '`') : NULL;
	const size_t quoted = quote ? (size_t)(quote - s) : 0;

	return quoted + strcspn(s + quoted, " \n");
}

/* Prints the paragraph @s up to @end, which may be indented, and breaks its lines. */
static void print_paragraph(const char *s, const char *end)
{
	const size_t indent = strspn(s, " ");
	size_t column = HELP_COLUMN + indent, len;

	printf("%*s", (int)indent, "");
	for (s += indent; s < end; s += len + (s[len] == ' ')) {
		len = word_length(s);
		if (column + len > HELP_WIDTH) {
			begin_line();
			column = HELP_COLUMN;
		}
		printf("%s%.*s", column > HELP_COLUMN + indent ? " " : "", (int)len, s);
		column += len + 1;
	}
}

/* Prints the sentences of an option from column HELP_COLUMN on. */
static void print_sentences(const char *text)
{
	const char *end;

	for (;; text = end + 1) {
		end = text + strcspn(text, "\n");
		print_paragraph(text, end);
		if (!*end)
			break;
		begin_line();
	}
	putchar('\n');
}

static void print_option(const struct ptc_option *o)
{
	const bool optional = o->arg && o->arg[0] == '[';
	int n = o->letter ? printf("  -%c, --%s", o->letter, o->name) :
			    printf("      --%s", o->name);

	if (optional)
		n += printf("[=%s", o->arg + 1);
	else if (o->arg)
		n += printf("=%s", o->arg);
	if (n < HELP_COLUMN)
		printf("%*s", HELP_COLUMN - n, "");
	else
		printf("\n%*s", HELP_COLUMN, "");
	print_sentences(o->help);
}

static void print_help(const struct ptc_option_table *t)
{
	const struct ptc_option *o;

	printf("%s\n", t->usage);
	for (o = t->options; o->help; o++)
		if (o->name)
			print_option(o);
		else
			printf("%s%s\n", o == t->options ? "" : "\n", o->help);
	if (t->notes)
		printf("\n%s", t->notes);
}

/* Errors of getopt_long */

/* Returns the option with the first @len bytes of @name as its long name, or NULL. */
static const struct ptc_option *find_by_name(const struct ptc_option_table *t, const char *name,
					     size_t len)
{
	const struct ptc_option *o;

	for (o = t->options; o->help; o++)
		if (ptc_option_is_handled(o) && !strncmp(o->name, name, len) && !o->name[len])
			return o;
	return NULL;
}

/* Does @name, cut to @len bytes, begin several options? getopt_long takes no such abbreviation. */
static bool is_ambiguous(const struct ptc_option_table *t, const char *name, size_t len)
{
	const struct ptc_option *o;
	int n = 0;

	for (o = t->options; o->help; o++)
		n += ptc_option_is_handled(o) && !strncmp(o->name, name, len);
	return n > 1;
}

/* @arg is "--NAME" or "--NAME=VALUE", which the command does not have. */
static int report_long_option(const struct ptc_option_table *t, const char *arg)
{
	const size_t len = strcspn(arg, "=");
	char *name = strndup(arg, len), full[PTC_SIMILAR_LEN + 2];
	struct ptc_similar similar;
	const struct ptc_option *o;
	int code;

	if (!name)
		return ptc_say_no_memory();
	ptc_similar_begin(&similar, name);
	for (o = t->options; o->help; o++)
		if (o->name && snprintf(full, sizeof(full), "--%s", o->name) < (int)sizeof(full))
			ptc_similar_add(&similar, full);
	if (is_ambiguous(t, arg + 2, len - 2))
		code = ptc_usage_error(t->command, "ambiguous option '%s'", name);
	else
		code = ptc_usage_error(t->command, "unknown option '%s'%s", name,
				       ptc_similar_text(&similar));
	free(name);
	return code;
}

/* Reports the option that getopt_long rejected with @c, ':' or '?'. */
static int report_rejected(const struct ptc_option_table *t, char *const *argv, int c)
{
	const char *arg = argv[optind - 1];
	const struct ptc_option *o;

	if (c == ':')
		return ptc_usage_error(t->command, "option '%s' needs a value", arg);
	/* optopt: the letter, or the value of a long option that takes no argument but has one. */
	o = optopt && !strncmp(arg, "--", 2) ? find_by_name(t, arg + 2, strcspn(arg + 2, "=")) :
					       NULL;
	if (o && optopt == FIRST_ID + (int)(o - t->options) && !o->arg && strchr(arg, '='))
		return ptc_usage_error(t->command, "option '--%s' takes no value", o->name);
	if (optopt > ' ' && optopt < 0x7f) /* a letter: argv[optind - 1] may be any argument */
		return ptc_usage_error(t->command, "unknown option '-%c'", optopt);
	if (!strncmp(arg, "--", 2))
		return report_long_option(t, arg);
	return ptc_usage_error(t->command, "unknown option '%s'", arg);
}

/* Parsing */

static int argument_of(const struct ptc_option *o)
{
	if (!o->arg)
		return no_argument;
	return o->arg[0] == '[' ? optional_argument : required_argument;
}

/* getopt_long's form of a table. */
struct getopt_form {
	struct option longs[MAX_OPTIONS + 1];
	char letters[3 * MAX_OPTIONS + 3];
};

static void make_form(const struct ptc_option_table *t, struct getopt_form *ret)
{
	const struct ptc_option *o;
	char *s = ret->letters;
	size_t n = 0;

	if (t->runs_command)
		*s++ = '+';
	*s++ = ':';
	for (o = t->options; o->help; o++) {
		const int arg = argument_of(o);

		if (!ptc_option_is_handled(o))
			continue;
		assert(n < MAX_OPTIONS);
		ret->longs[n++] =
			(struct option){ o->name, arg, NULL, FIRST_ID + (int)(o - t->options) };
		if (!o->letter)
			continue;
		*s++ = (char)o->letter;
		if (arg != no_argument)
			*s++ = ':';
		if (arg == optional_argument)
			*s++ = ':';
	}
	ret->longs[n] = (struct option){ NULL, 0, NULL, 0 };
	*s = '\0';
}

/* Returns the option that getopt_long returned as @c. */
static const struct ptc_option *find_by_id(const struct ptc_option_table *t, int c)
{
	const struct ptc_option *o = t->options;

	if (c >= FIRST_ID)
		return &t->options[c - FIRST_ID];
	while (o->letter != c || !ptc_option_is_handled(o))
		o++;
	return o;
}

static int apply(const struct ptc_option_table *t, const struct ptc_option *o, void *args)
{
	void *const dest = (char *)args + o->dest;

	if (o->take)
		return o->take(args, optarg);
	if (o->prints_help) {
		print_help(t);
		return PTC_EXIT_OK;
	}
	if (o->does == PTC_SETS_FLAG) {
		*(bool *)dest = true;
	} else if (o->does == PTC_SETS_TEXT) {
		*(const char **)dest = optarg;
	} else if (!o->parse(optarg, dest)) {
		char name[PTC_SIMILAR_LEN + 2];

		(void)snprintf(name, sizeof(name), "--%s", o->name);
		return ptc_value_error(t->command, name, optarg, "%s", o->expected);
	}
	return -1;
}

int ptc_options_parse(const struct ptc_option_table *t, int argc, char **argv, void *args)
{
	struct getopt_form form;
	int c, code;

	if (argc == 2 && !strcmp(argv[1], PTC_LIST_OPTIONS)) {
		ptc_options_list(t);
		return PTC_EXIT_OK;
	}
	make_form(t, &form);
	opterr = 0; /* getopt_long prints nothing itself */
	while ((c = getopt_long(argc, argv, form.letters, form.longs, NULL)) != -1) {
		if (c == ':' || c == '?')
			return report_rejected(t, argv, c);
		code = apply(t, find_by_id(t, c), args);
		if (code >= 0)
			return code;
	}
	return -1;
}

bool ptc_take_json(const char *s, void *ret)
{
	*(bool *)ret = !strcmp(s, "json");
	return *(bool *)ret || !strcmp(s, "text");
}

bool ptc_take_count(const char *s, void *ret)
{
	return ptc_parse_count(s, ret) && *(uint64_t *)ret;
}

bool ptc_take_duration(const char *s, void *ret)
{
	return ptc_parse_duration(s, ret);
}

bool ptc_take_max_memory(const char *s, void *none)
{
	uint64_t n;

	(void)none;
	if (!ptc_parse_size(s, &n) || !n)
		return false;
	ptc_memory_set_limit(n);
	return true;
}
