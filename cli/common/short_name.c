/* SPDX-License-Identifier: MIT */
#include "cli/common/short_name.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_brackets.h"
#include "base/terminal_escape.h"

static const char dots[] = "...";

enum { DOTS = sizeof(dots) - 1, HASH = 16 };

/* A name in the work. The buffers have the same size, which fits the longest result. */
struct work {
	char *name;		 /* NUL-terminated */
	char *next;		 /* result of a step, which replaces name */
	struct ptc_bracket *map; /* of name, one for each byte */
	size_t len;		 /* of name */
};

/* Reads only the begin of @s. strncmp() of a sanitizer reads all of it, for each position of a long
 * name. */
static bool begins(const char *s, const char *word)
{
	while (*word && *s == *word) {
		s++;
		word++;
	}
	return !*word;
}

static bool ends(const char *s, size_t len, const char *word)
{
	const size_t n = strlen(word);

	return len >= n && !memcmp(s + len - n, word, n);
}

/* The step wrote @n bytes to next. */
static void take_next(struct work *w, size_t n)
{
	char *name = w->name;

	w->next[n] = '\0';
	w->name = w->next;
	w->next = name;
	w->len = n;
}

/* --- parts that are always omitted --- */

static size_t hex_digits(const char *s)
{
	return strspn(s, "0123456789abcdef");
}

/* Returns the length of a part at @at that is always omitted, or 0. @out: the text before it. */
static size_t omitted(const char *at, const char *out, size_t n)
{
	static const char *const tags[] = { "[abi:cxx11]",	  " [clone .isra",
					    " [clone .constprop", " [clone .part",
					    " [clone .lto_priv",  " [clone .llvm" };
	static const char *const inlines[] = { "__cxx11::", "__1::", "_V2::" };
	size_t i, digits;

	for (i = 0; *at == '_' && i < sizeof(inlines) / sizeof(inlines[0]); i++)
		if (begins(at, inlines[i]) && ends(out, n, "std::"))
			return strlen(inlines[i]);
	for (i = 0; (*at == '[' || *at == ' ') && i < sizeof(tags) / sizeof(tags[0]); i++)
		if (begins(at, tags[i]))
			return strcspn(at, "]") + (strchr(at, ']') != NULL);
	if (begins(at, "::h") && hex_digits(at + 3) == HASH && !ptc_is_name_char(at[3 + HASH]))
		return 3 + HASH;
	digits = *at == '[' ? hex_digits(at + 1) : 0; /* a crate's disambiguator */
	return digits >= HASH / 2 && digits <= HASH && at[1 + digits] == ']' ? digits + 2 : 0;
}

static void omit_always(struct work *w)
{
	static const char cold[] = " [clone .cold";
	size_t i = 0, n = 0, skip;

	while (i < w->len) {
		skip = omitted(w->name + i, w->next, n);
		if (skip) {
			i += skip;
		} else if (begins(w->name + i, cold)) {
			memcpy(w->next + n, " [cold", 6);
			n += 6;
			i += sizeof(cold) - 1;
		} else {
			w->next[n++] = w->name[i++];
		}
	}
	take_next(w, n);
}

/* --- template arguments of the C++ library --- */

static bool is_default_argument(const char *s, size_t len)
{
	static const char *const names[] = { "std::allocator<", "std::char_traits<",
					     "std::less<",	"std::equal_to<",
					     "std::hash<",	"std::default_delete<" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (len > strlen(names[i]) && begins(s, names[i]))
			return true;
	return false;
}

/* Returns the length of the list [@from, @to) of @s without the default arguments at its end. */
static size_t without_defaults(const char *s, size_t from, size_t to)
{
	size_t at = to;
	int depth = 0;

	while (at-- > from) {
		depth += strchr(">)}]", s[at]) != NULL;
		depth -= strchr("<({[", s[at]) != NULL;
		if (depth || s[at] != ',' || at + 2 > to || s[at + 1] != ' ')
			continue;
		if (!is_default_argument(s + at + 2, to - at - 2))
			break;
		to = at;
	}
	return to - from;
}

/* "std::basic_string<char" at the end of @s becomes "std::string". @open: offset of the '<'. */
static bool fold_basic(char *s, size_t *n, size_t open)
{
	static const char basic[] = "std::basic_";
	size_t begin = open, word;
	bool wide;

	while (begin && ptc_is_name_char(s[begin - 1]))
		begin--;
	if (begin < 5)
		return false;
	begin -= 5;
	word = begin + sizeof(basic) - 1;
	wide = ends(s, *n, "<wchar_t") && *n == open + 8;
	if (word >= open || memcmp(s + begin, basic, sizeof(basic) - 1) != 0 ||
	    !(wide || (ends(s, *n, "<char") && *n == open + 5)))
		return false;
	begin += 5;
	if (wide)
		s[begin++] = 'w';
	memmove(s + begin, s + word, open - word);
	*n = begin + open - word;
	return true;
}

static void omit_defaults(struct work *w)
{
	size_t opens[PTC_BRACKETS_DEEP] = { 0 }, depth = 0, i, n = 0, open;

	for (i = 0; i < w->len; i++) {
		const struct ptc_bracket *b = &w->map[i];

		if (b->angle && b->is_open)
			opens[depth++] = n;
		if (!b->angle || b->is_open) {
			w->next[n++] = w->name[i];
			continue;
		}
		assert(depth); /* each pair opens before it closes */
		open = opens[--depth];
		n = open + 1 + without_defaults(w->next, open + 1, n);
		while (n > open + 1 && w->next[n - 1] == ' ')
			n--;
		if (!fold_basic(w->next, &n, open))
			w->next[n++] = '>';
	}
	take_next(w, n);
}

/* --- parts that are omitted if the name is too long --- */

struct cut {
	uint32_t angles; /* template arguments at this depth and deeper become <...>; 1: all */
	bool arguments;	 /* those of functions become (...) */
};

/* Return whether a list of arguments is at offset @i: not "(anonymous namespace)", nor Go's
 * "(*T).". */
static bool is_arguments(const struct work *w, size_t i)
{
	return w->name[i] == '(' && !w->map[i].angles && !begins(w->name + i, "(anonymous") &&
	       w->name[w->map[i].partner + 1] != '.';
}

static bool is_cut(const struct work *w, size_t i, const struct cut *c)
{
	const struct ptc_bracket *b = &w->map[i];

	if (!b->is_open || b->partner - i <= DOTS + 1)
		return false;
	if (b->angle)
		return b->angles >= c->angles;
	return c->arguments && is_arguments(w, i);
}

/* Write the name to next with @c omitted. Returns its length. */
static size_t render(struct work *w, const struct cut *c)
{
	size_t i = 0, n = 0;

	while (i < w->len) {
		w->next[n++] = w->name[i];
		if (!is_cut(w, i, c)) {
			i++;
			continue;
		}
		memcpy(w->next + n, dots, DOTS);
		n += DOTS;
		i = w->map[i].partner;
	}
	w->next[n] = '\0';
	return n;
}

static bool fits_cut(struct work *w, const struct cut *c, size_t width)
{
	const size_t n = render(w, c);

	if (ptc_plain_width(w->next) > width)
		return false;
	take_next(w, n);
	return true;
}

static bool shorten_lists(struct work *w, size_t width)
{
	struct cut c = { .angles = 1 };
	size_t i;

	for (i = 0; i < w->len; i++)
		if (w->map[i].angle && w->map[i].angles >= c.angles)
			c.angles = w->map[i].angles + 1;
	while (c.angles > 1) {
		if (fits_cut(w, &c, width))
			return true;
		c.angles--;
	}
	c.angles = 2;
	c.arguments = true;
	if (fits_cut(w, &c, width))
		return true;
	c.angles = 1;
	return fits_cut(w, &c, width);
}

/* Return whether a separator of scopes is at offset @i: "::", or "/" in Go. */
static bool is_separator(const struct work *w, size_t i)
{
	return !w->map[i].depth && (begins(w->name + i, "::") || w->name[i] == '/');
}

/* Omit as many outer namespaces and classes as needed. The name is wider than @width. */
static bool shorten_scopes(struct work *w, size_t width)
{
	/* The part in front of @from is too small. */
	const size_t from = ptc_plain_fit(w->name, ptc_plain_width(w->name) + DOTS - width - 1);
	size_t i;

	ptc_brackets_find(w->name, w->len, w->map);
	for (i = 0; i < w->len; i++) {
		if (w->map[i].in_operator && !w->map[i].depth)
			return false;
		if (i <= from || !is_separator(w, i))
			continue;
		memcpy(w->next, dots, DOTS);
		memcpy(w->next + DOTS, w->name + i, w->len - i);
		take_next(w, w->len - i + DOTS);
		return true;
	}
	return false;
}

static void cut_end(struct work *w, size_t width)
{
	const size_t tail = width > DOTS ? DOTS : 0;
	const size_t n = ptc_plain_fit(w->name, width - tail);

	memcpy(w->name + n, dots, tail);
	w->len = n + tail;
	w->name[w->len] = '\0';
}

/* Remove the list of arguments at the end, with a "const" behind it. */
static void drop_arguments(struct work *w)
{
	size_t i;

	ptc_brackets_find(w->name, w->len, w->map);
	for (i = w->len; i-- > 1;) {
		const struct ptc_bracket *b = &w->map[i];

		if (b->depth != 1 || !b->is_open || !is_arguments(w, i))
			continue;
		if (!w->name[b->partner + 1] || w->name[b->partner + 1] == ' ') {
			w->len = i;
			w->name[i] = '\0';
		}
		return;
	}
}

static void make_bare(struct work *w, size_t width)
{
	const struct cut c = { .angles = 1, .arguments = true };

	omit_always(w);
	ptc_brackets_find(w->name, w->len, w->map);
	omit_defaults(w);
	ptc_brackets_find(w->name, w->len, w->map);
	take_next(w, render(w, &c));
	drop_arguments(w);
	if (ptc_plain_width(w->name) > width && !shorten_scopes(w, width))
		cut_end(w, width);
}

static void shorten(struct work *w, size_t width)
{
	omit_always(w);
	ptc_brackets_find(w->name, w->len, w->map);
	omit_defaults(w);
	if (ptc_plain_width(w->name) <= width)
		return;
	ptc_brackets_find(w->name, w->len, w->map);
	if (shorten_lists(w, width))
		return;
	take_next(w, strlen(w->next));
	if (!shorten_scopes(w, width))
		cut_end(w, width);
}

static char *make_name(const char *name, size_t width, void (*step)(struct work *w, size_t width))
{
	/* A result may be longer than the name by the dots in front. */
	const size_t len = strnlen(name, PTC_SHORT_NAME_LIMIT), size = len + 2 * (size_t)DOTS + 1;
	struct work w = { .name = calloc(1, size),
			  .next = malloc(size),
			  .map = malloc(size * sizeof(*w.map)),
			  .len = len };
	char *ret = NULL;

	if (w.name && w.next && w.map) {
		memcpy(w.name, name, len);
		step(&w, width);
		ret = w.name;
		w.name = NULL;
	}
	free(w.name);
	free(w.next);
	free(w.map);
	return ret;
}

char *ptc_short_name(const char *name, size_t width)
{
	return make_name(name, width, shorten);
}

char *ptc_bare_name(const char *name, size_t width)
{
	return make_name(name, width, make_bare);
}
