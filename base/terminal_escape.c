/* SPDX-License-Identifier: MIT */
#include "base/terminal_escape.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ESCAPED = 4, JSON_ESCAPED = 6, JSON_GROWTH = 6, WIDE = 0x1100 };

static const char hex[] = "0123456789abcdef";
static bool ascii_out, ascii_err; /* the stream is ASCII only: other bytes are escaped */

void ptc_plain_set_ascii(bool out, bool err)
{
	ascii_out = out;
	ascii_err = err;
}

/* Returns the length of the character at @s if it is valid, shortest-form UTF-8; otherwise 0. */
static size_t decode_utf8(const unsigned char *s, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const size_t n = s[0] < 0x80	       ? 1 :
			 (s[0] & 0xe0) == 0xc0 ? 2 :
			 (s[0] & 0xf0) == 0xe0 ? 3 :
			 (s[0] & 0xf8) == 0xf0 ? 4 :
						 0;
	uint32_t c = n == 1 ? s[0] : s[0] & (0xffU >> (n + 1));
	size_t i;

	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) /* also true at the end of the string */
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (!n || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret = c;
	return n;
}

static bool acts_on_terminal(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) ||	   /* C0, DEL, C1 */
	       c == 0x61c || c == 0x200e || c == 0x200f || /* direction marks */
	       (c >= 0x2028 && c <= 0x202e) || /* line separators, embeddings and overrides */
	       (c >= 0x2066 && c <= 0x2069);   /* isolates */
}

static size_t scan_character(const char *s, bool ascii, bool *ret_plain)
{
	uint32_t c = 0;
	const size_t n = decode_utf8((const unsigned char *)s, &c);

	*ret_plain = n && !acts_on_terminal(c) && !(ascii && c >= 0x80);
	return *s ? (n ? n : 1) : 0;
}

size_t ptc_plain_next(const char *s, bool *ret_plain)
{
	return scan_character(s, ascii_out, ret_plain);
}

static void escape(char *ret, char c)
{
	const unsigned char byte = (unsigned char)c;

	ret[0] = '\\';
	ret[1] = 'x';
	ret[2] = hex[byte >> 4];
	ret[3] = hex[byte & 15];
}

void ptc_plain_put(FILE *out, const char *s)
{
	const bool ascii = fileno(out) == STDERR_FILENO ? ascii_err : ascii_out;
	char text[ESCAPED];
	bool plain;
	size_t n;

	for (; (n = scan_character(s, ascii, &plain)); s += n) {
		size_t i;

		if (plain) {
			(void)fwrite(s, 1, n, out);
			continue;
		}
		for (i = 0; i < n; i++) {
			escape(text, s[i]);
			(void)fwrite(text, 1, sizeof(text), out);
		}
	}
}

void ptc_plain_copy(char *ret, size_t size, const char *s)
{
	size_t n, need, i;
	bool plain;

	for (; (n = ptc_plain_next(s, &plain)); s += n) {
		need = plain ? n : n * ESCAPED;
		if (need >= size)
			break;
		if (plain)
			memcpy(ret, s, n);
		for (i = 0; !plain && i < n; i++)
			escape(ret + i * ESCAPED, s[i]);
		ret += need;
		size -= need;
	}
	*ret = '\0';
}

/* Returns the columns of the character of @n bytes at @s. */
static size_t columns(const char *s, size_t n, bool plain)
{
	uint32_t c = 0;

	if (!plain)
		return n * ESCAPED;
	(void)decode_utf8((const unsigned char *)s, &c);
	return c < WIDE ? 1 : 2;
}

size_t ptc_plain_width(const char *s)
{
	size_t n, width = 0;
	bool plain;

	for (; (n = ptc_plain_next(s, &plain)); s += n)
		width += columns(s, n, plain);
	return width;
}

size_t ptc_plain_fit(const char *s, size_t width)
{
	const char *at = s;
	size_t n, need;
	bool plain;

	for (; (n = ptc_plain_next(at, &plain)); at += n) {
		need = columns(at, n, plain);
		if (need > width)
			break;
		width -= need;
	}
	return (size_t)(at - s);
}

char *ptc_plain_dup(const char *s)
{
	const size_t size = strlen(s) * ESCAPED + 1;
	char *copy = malloc(size);

	if (copy)
		ptc_plain_copy(copy, size, s);
	return copy;
}

/* Write \uXXXX for @unit to @at. Returns the end of these six bytes. */
static char *json_escape(char *at, uint32_t unit)
{
	at[0] = '\\';
	at[1] = 'u';
	at[2] = hex[unit >> 12 & 15];
	at[3] = hex[unit >> 8 & 15];
	at[4] = hex[unit >> 4 & 15];
	at[5] = hex[unit & 15];
	return at + JSON_ESCAPED;
}

char *ptc_plain_json(const char *json)
{
	char *copy = calloc(strlen(json) + 1, JSON_GROWTH), *at = copy;
	uint32_t c;
	bool plain;
	size_t n;

	for (; copy && (n = ptc_plain_next(json, &plain)); json += n) {
		/* JSON white space; control characters inside strings are already escaped */
		if (plain || (unsigned char)*json < 0x20 ||
		    !decode_utf8((const unsigned char *)json, &c)) {
			memcpy(at, json, n);
			at += n;
		} else if (c < 0x10000) {
			at = json_escape(at, c);
		} else { /* a surrogate pair */
			at = json_escape(at, 0xd800 + ((c - 0x10000) >> 10));
			at = json_escape(at, 0xdc00 + (c & 0x3ff));
		}
	}
	return copy;
}
