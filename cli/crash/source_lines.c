/* SPDX-License-Identifier: MIT */
#include "cli/crash/source_lines.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lines.h"
#include "base/untrusted.h"
#include "cli/common/source_file.h"

enum { LINES = 3, LINE_MAX_LEN = 500, TAB = 8 };

/* One source line: its text without tabs and line end. */
struct line {
	char text[LINE_MAX_LEN + 1];
	size_t indent; /* blanks at its begin; SIZE_MAX: nothing else */
};

/* Is @a later than @b? A build and an edit can share a second. */
static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Is the source newer than the file of the code? */
static bool is_newer(const struct stat *source, const char *symfs, const char *path)
{
	const struct ptc_untrusted how = { .root = symfs ? strlen(symfs) : 0 };
	char *name = path ? ptc_source_file_name(symfs, NULL, path) : NULL;
	struct ptc_err err;
	struct stat st;
	const int fd = name ? ptc_untrusted_open(name, &how, &st, &err) : -1;

	free(name);
	if (fd < 0)
		return false;
	(void)close(fd);
	return is_later(&source->st_mtim, &st.st_mtim);
}

/* Copy the line [@at, @end) with blanks instead of tabs. */
static void take_line(struct line *l, const char *at, const char *end)
{
	size_t n = 0;

	if (end > at && end[-1] == '\r')
		end--;
	for (; at < end && n < LINE_MAX_LEN; at++) {
		const bool tab = *at == '\t';

		do
			l->text[n++] = tab ? ' ' : *at ? *at : '\1'; /* printed escaped */
		while (tab && n % TAB && n < LINE_MAX_LEN);
	}
	while (n && l->text[n - 1] == ' ')
		n--;
	l->text[n] = '\0';
	l->indent = n ? strspn(l->text, " ") : SIZE_MAX;
}

/*
 * Find the lines around line @line of @b. Returns their number, 0 if there is no such line, and
 * *@ret_first, the number of the first.
 */
static size_t find_lines(const struct ptc_buf *b, int line, struct line ret[LINES], int *ret_first)
{
	const char *at = (const char *)b->bytes, *end = at + b->len, *newline;
	int number;
	size_t n = 0;

	*ret_first = line > 1 ? line - 1 : line;
	for (number = 1; at < end && number <= line + 1; number++, at = newline + 1) {
		newline = ptc_line_end(at, end);
		if (number >= *ret_first)
			take_line(&ret[n++], at, newline);
		if (newline == end)
			break;
	}
	return *ret_first + (int)n > line ? n : 0;
}

void ptc_crash_add_source(const struct ptc_crash_view *v, struct ptc_screen *s,
			  const struct ptc_crash_place *p)
{
	struct ptc_buf b = PTC_BUF_INIT;
	struct line lines[LINES];
	struct stat st;
	size_t n = 0, i, indent = SIZE_MAX;
	int first = 0;

	if (!p->source || p->line < 1 || p->line == INT32_MAX)
		return;
	if (ptc_source_file_read(v->symfs, ptc_crash_source_folder(v->r, p), p->source, &b, &st))
		n = find_lines(&b, p->line, lines, &first);
	for (i = 0; i < n; i++)
		indent = lines[i].indent < indent ? lines[i].indent : indent;
	for (i = 0; i < n; i++) {
		const int number = first + (int)i;
		const bool here = number == p->line;

		ptc_screen_add(s, here ? PTC_STYLE_BOLD : PTC_STYLE_PLAIN, " %c%8d | %s",
			       here ? '>' : ' ', number,
			       lines[i].indent == SIZE_MAX ? "" : lines[i].text + indent);
	}
	if (n && is_newer(&st, v->symfs, p->file))
		ptc_screen_add(s, PTC_STYLE_PLAIN,
			       "            the source is newer than the program, and may differ");
	ptc_buf_release(&b);
}
