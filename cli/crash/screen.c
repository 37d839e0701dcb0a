/* SPDX-License-Identifier: MIT */
#include "cli/crash/screen.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/terminal_escape.h"

enum { DOTS = 3 };

/* Append a line with @text, which the screen frees. NULL: out of memory. */
static void add_text(struct ptc_screen *s, enum ptc_style style, char *text)
{
	if (!text || !ptc_grow(&s->lines, &s->cap, s->n + 1, sizeof(*s->lines))) {
		free(text);
		s->failed = true;
		return;
	}
	s->lines[s->n++] = (struct ptc_screen_line){ text, SIZE_MAX, style };
}

void ptc_screen_add(struct ptc_screen *s, enum ptc_style style, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	add_text(s, style, text);
}

void ptc_screen_heading(struct ptc_screen *s, const char *title)
{
	ptc_screen_add(s, PTC_STYLE_PLAIN, "%s", "");
	ptc_screen_add(s, PTC_STYLE_BOLD, "%s", title);
}

void ptc_screen_style(struct ptc_screen *s, size_t line, enum ptc_style style, size_t n)
{
	if (line >= s->n)
		return;
	s->lines[line].style = style;
	s->lines[line].styled = n;
}

/* Returns the number of bytes of @text for one line of @width columns. */
static size_t line_length(const char *text, size_t width)
{
	const size_t most = ptc_plain_fit(text, width);
	size_t n = most;

	if (!text[most])
		return most;
	while (n && text[n] != ' ')
		n--;
	return n ? n : most;
}

void ptc_screen_wrap(struct ptc_screen *s, size_t indent, size_t most, const char *text)
{
	size_t left = 0, n;

	for (; most--; left = indent) {
		const size_t room = s->width > left + DOTS ? s->width - left : DOTS;

		n = most ? line_length(text, room) : strlen(text);
		if (!n && *text) /* a character that does not fit */
			n = strlen(text);
		ptc_screen_add(s, PTC_STYLE_PLAIN, "%*s%.*s", (int)left, "", (int)n, text);
		text += n;
		text += strspn(text, " ");
		if (!*text)
			return;
	}
}

void ptc_screen_cut(struct ptc_screen *s, size_t most)
{
	size_t dropped = 1;

	if (s->n <= most || !most)
		return;
	for (; s->n >= most; dropped++)
		free(s->lines[--s->n].text);
	ptc_screen_add(s, PTC_STYLE_PLAIN, "     ... %zu more lines with -v ...", dropped - 1);
}

void ptc_screen_move(struct ptc_screen *s, struct ptc_screen *other)
{
	size_t i;

	s->failed |= other->failed;
	for (i = 0; i < other->n; i++) {
		const size_t n = s->n;

		add_text(s, other->lines[i].style, other->lines[i].text);
		if (s->n > n)
			s->lines[n].styled = other->lines[i].styled;
	}
	other->n = 0;
	ptc_screen_release(other);
}

/* Print @len bytes of @text. */
static void put_part(const char *text, size_t len)
{
	char c[5];
	bool plain;
	size_t n;

	for (; len && (n = ptc_plain_next(text, &plain)); text += n, len -= n < len ? n : len) {
		memcpy(c, text, n);
		c[n] = '\0';
		ptc_plain_put(stdout, c);
	}
}

static void put_line(const struct ptc_screen *s, const struct ptc_screen_line *l)
{
	static const char *const codes[] = { [PTC_STYLE_BOLD] = "\033[1m",
					     [PTC_STYLE_DIM] = "\033[2m",
					     [PTC_STYLE_RED] = "\033[1;31m" };
	const bool whole = ptc_plain_width(l->text) <= s->width;
	const size_t len = whole ? strlen(l->text) : ptc_plain_fit(l->text, s->width - DOTS);
	const bool has_style = s->color && l->style != PTC_STYLE_PLAIN;
	const size_t styled = !has_style ? 0 : l->styled < len ? l->styled : len;

	if (has_style)
		fputs(codes[l->style], stdout);
	put_part(l->text, styled);
	if (has_style)
		fputs("\033[m", stdout);
	put_part(l->text + styled, len - styled);
	puts(whole ? "" : "...");
}

void ptc_screen_print(const struct ptc_screen *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		put_line(s, &s->lines[i]);
}

void ptc_screen_release(struct ptc_screen *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		free(s->lines[i].text);
	free(s->lines);
	*s = (struct ptc_screen){ .width = s->width, .color = s->color };
}
