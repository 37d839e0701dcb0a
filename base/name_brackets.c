/* SPDX-License-Identifier: MIT */
#include "base/name_brackets.h"

#include <string.h>

bool ptc_is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Returns the length of the operator's symbol at @s, or 0. */
static size_t symbol_length(const char *s)
{
	/* A longer symbol comes before its prefixes. */
	static const char *const symbols[] = { "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=",
					       ">=",  "->",  "()",  "[]",  "<",	 ">",  "(" };
	size_t i;

	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!strncmp(s, symbols[i], strlen(symbols[i])))
			return s[0] == '(' && s[1] != ')' ? 0 : strlen(symbols[i]);
	return 0;
}

/* Returns the length of "operator<<" at offset @i, or of "operator" before a type; 0: neither. */
static size_t operator_length(const char *name, size_t i)
{
	static const char word[] = "operator";
	const size_t n = sizeof(word) - 1;

	if (strncmp(name + i, word, n) != 0 || (i && ptc_is_name_char(name[i - 1])) ||
	    ptc_is_name_char(name[i + n]))
		return 0;
	return n + symbol_length(name + i + n);
}

struct open {
	uint32_t at;
	char close;
};

static char closing(char c)
{
	return (char)(c == '<' ? '>' : c == '(' ? ')' : c == '{' ? '}' : c == '[' ? ']' : '\0');
}

/* A comparison follows a closing bracket: "(4)<(2)". "1<2" is mistaken for a template. */
static bool opens(const char *name, size_t i)
{
	return name[i] != '<' || !i || !strchr(")]}", name[i - 1]);
}

/* Find the entry of @stack that @c closes. Angles that stay open inside of it are plain text. */
static bool find_open(const struct open *stack, size_t *n, char c)
{
	size_t k = *n;

	if (c == '>') /* closes only the innermost bracket: else it is a comparison */
		return k && stack[k - 1].close == c;
	while (k && stack[k - 1].close != c && stack[k - 1].close == '>')
		k--;
	if (!k || stack[k - 1].close != c)
		return false;
	*n = k;
	return true;
}

static void pair(struct ptc_bracket *map, uint32_t open, uint32_t close, bool angle)
{
	map[open].partner = close;
	map[open].is_open = true;
	map[open].angle = map[close].angle = angle;
}

static void find_pairs(const char *name, size_t len, struct ptc_bracket *map)
{
	struct open stack[PTC_BRACKETS_DEEP];
	size_t i, n = 0, skip;

	for (i = 0; i < len; i++) {
		const char c = name[i];

		skip = c == 'o' ? operator_length(name, i) : 0;
		if (skip) {
			map[i].in_operator = true;
			i += skip - 1;
		} else if (closing(c) && opens(name, i) && n < PTC_BRACKETS_DEEP) {
			stack[n++] = (struct open){ (uint32_t)i, closing(c) };
		} else if (strchr(">)}]", c) && !(c == '>' && i && name[i - 1] == '-') &&
			   find_open(stack, &n, c)) {
			pair(map, stack[--n].at, (uint32_t)i, c == '>');
		}
	}
}

/* Count the pairs around each byte. @map has the pairs. */
static void count_pairs(size_t len, struct ptc_bracket *map)
{
	uint32_t closes[PTC_BRACKETS_DEEP];
	uint8_t depth = 0, angles = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		struct ptc_bracket *b = &map[i];

		if (b->is_open) {
			closes[depth++] = b->partner;
			angles = (uint8_t)(angles + b->angle);
		}
		b->depth = depth;
		b->angles = angles;
		if (!b->is_open && depth && closes[depth - 1] == i) {
			depth--;
			angles = (uint8_t)(angles - b->angle);
		}
	}
}

void ptc_brackets_find(const char *name, size_t len, struct ptc_bracket *map)
{
	memset(map, 0, len * sizeof(*map));
	find_pairs(name, len, map);
	count_pairs(len, map);
}
