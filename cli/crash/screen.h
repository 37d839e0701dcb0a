/* SPDX-License-Identifier: MIT */
/* Lines of text for a terminal, none of which wraps. */
#ifndef PTC_CLI_CRASH_SCREEN_H
#define PTC_CLI_CRASH_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum ptc_style { PTC_STYLE_PLAIN, PTC_STYLE_BOLD, PTC_STYLE_DIM, PTC_STYLE_RED };

struct ptc_screen_line {
	char *text;    /* owned; not escaped */
	size_t styled; /* the first bytes of text have the style */
	enum ptc_style style;
};

/* Starts zeroed. The caller sets width and color. */
struct ptc_screen {
	struct ptc_screen_line *lines; /* owned */
	size_t n, cap;
	size_t width; /* columns; SIZE_MAX: no limit */
	bool color;   /* print styles */
	bool failed;  /* out of memory: lines are missing */
};

/* Append a line. */
void ptc_screen_add(struct ptc_screen *s, enum ptc_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Append an empty line and a heading. */
void ptc_screen_heading(struct ptc_screen *s, const char *title);
/* Give the first @n bytes of line @line a style, if the line exists. */
void ptc_screen_style(struct ptc_screen *s, size_t line, enum ptc_style style, size_t n);
/*
 * Append @text, broken at blanks into at most @most lines. @indent: columns in front of each line
 * behind the first.
 */
void ptc_screen_wrap(struct ptc_screen *s, size_t indent, size_t most, const char *text);
/* Drop lines, so that at most @most remain. The last line tells their number. */
void ptc_screen_cut(struct ptc_screen *s, size_t most);
/* Append the lines of @other, which becomes empty. */
void ptc_screen_move(struct ptc_screen *s, struct ptc_screen *other);

/* Print the lines, escaped. A line that is wider than the screen ends in "...". */
void ptc_screen_print(const struct ptc_screen *s);
void ptc_screen_release(struct ptc_screen *s);

#endif
