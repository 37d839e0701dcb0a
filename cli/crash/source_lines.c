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
#include "cli/crash/place_text.h"

enum { SOURCE_MAX = 16 << 20, LINES = 3, LINE_MAX_LEN = 500, TAB = 8 };

/* One source line: its text without tabs and line end. */
struct line {
	char text[LINE_MAX_LEN + 1];
	size_t indent; /* blanks at its begin; SIZE_MAX: nothing else */
};

static bool has_suffix(const char *path)
{
	static const char *const suffixes[] = {
		"c",   "h",   "cc",  "cp",    "cpp",  "cxx", "c++", "C",   "hh",  "hpp",
		"hxx", "h++", "H",   "inl",   "ipp",  "tcc", "tpp", "inc", "ixx", "cppm",
		"rs",  "go",  "d",   "di",    "s",    "S",   "asm", "f",   "for", "f77",
		"f90", "f95", "f03", "f08",   "F",    "F90", "adb", "ads", "pas", "m",
		"mm",  "zig", "nim", "swift", "hs",   "ml",  "y",   "yy",  "l",	  "ll",
		"re",  "rl",  "v",   "cr",    "vala", "cu",  "kt",  "def",
	};
	const char *dot = strrchr(ptc_path_base(path), '.');
	size_t i;

	for (i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (!strcmp(dot + 1, suffixes[i]))
			return true;
	return false;
}

/*
 * Returns @path, which may be relative to @folder, below @symfs. Caller frees it. NULL: out of
 * memory, or the folder is not known.
 */
static char *below(const char *symfs, const char *folder, const char *path)
{
	char *ret = NULL;

	if (path[0] == '/')
		folder = "";
	if (!folder || (path[0] != '/' && folder[0] != '/'))
		return NULL;
	return asprintf(&ret, "%s%s/%s", symfs ? symfs : "", folder, path) < 0 ? NULL : ret;
}

static bool read_source(const struct ptc_crash_view *v, const struct ptc_crash_place *p,
			struct ptc_buf *ret, struct stat *ret_st)
{
	const struct ptc_untrusted how = { .root = v->symfs ? strlen(v->symfs) : 0,
					   .max = SOURCE_MAX };
	const char *folder = ptc_crash_source_folder(v->r, p);
	char *name = has_suffix(p->source) ? below(v->symfs, folder, p->source) : NULL;
	struct ptc_err err;
	const bool done = name && !ptc_untrusted_read(name, &how, ret, ret_st, &err);

	free(name);
	return done;
}

/* Is the source newer than the file of the code? */
static bool is_newer(const struct stat *source, const char *symfs, const char *path)
{
	const struct ptc_untrusted how = { .root = symfs ? strlen(symfs) : 0 };
	char *name = path ? below(symfs, NULL, path) : NULL;
	struct ptc_err err;
	struct stat st;
	const int fd = name ? ptc_untrusted_open(name, &how, &st, &err) : -1;

	free(name);
	if (fd < 0)
		return false;
	(void)close(fd);
	return source->st_mtime > st.st_mtime;
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
	if (read_source(v, p, &b, &st))
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
