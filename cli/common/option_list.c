/* SPDX-License-Identifier: MIT */
#include "cli/common/option_list.h"

#include <stdio.h>
#include <string.h>

enum { MAX_WORDS = 256 };

/* Prints the first sentence of @text in one line, without its full stop. */
static void print_sentence(const char *text)
{
	for (; *text; text++) {
		if (*text == '.' && (!text[1] || text[1] == ' ' || text[1] == '\n'))
			break;
		putchar(*text == '\n' ? ' ' : *text);
	}
	putchar('\n');
}

/* Returns the text after the lines with the usage. */
static const char *summary(const struct ptc_option_table *t)
{
	const char *s = t->usage, *end;

	while (!strncmp(s, "usage:", 6) || *s == ' ') {
		end = strchr(s, '\n');
		if (!end)
			return "";
		s = end + 1;
	}
	return s;
}

void ptc_option_words(const char *expected, char *ret, size_t size)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
	const char *s = expected ? expected : "";
	size_t used = 0, n;
	bool last = false;

	for (n = strspn(s, letters); n && used + n + 2 <= size; n = strspn(s, letters)) {
		used += (size_t)snprintf(ret + used, size - used, "%s%.*s", used ? " " : "", (int)n,
					 s);
		s += n;
		if (last && (!*s || *s == ','))
			return;
		if (last || (strncmp(s, ", ", 2) != 0 && strncmp(s, " or ", 4) != 0))
			break;
		last = *s == ' ';
		s += last ? 4 : 2;
	}
	ret[0] = '\0';
}

static void list_option(const struct ptc_option_table *t, const struct ptc_option *o)
{
	char words[MAX_WORDS];

	ptc_option_words(o->expected, words, sizeof(words));
	printf("%s\t", t->command);
	if (o->letter)
		printf("-%c", o->letter);
	printf("\t--%s\t%s\t%s\t", o->name, o->arg ? o->arg : "", words);
	print_sentence(o->help);
}

void ptc_options_list(const struct ptc_option_table *t)
{
	const struct ptc_option *o;

	printf("%s\t\t\t%s\t\t", t->command, t->runs_command ? "CMD" : "FILE");
	print_sentence(summary(t));
	for (o = t->options; o->help; o++)
		if (ptc_option_is_handled(o))
			list_option(t, o);
}
