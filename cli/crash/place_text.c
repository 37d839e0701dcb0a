/* SPDX-License-Identifier: MIT */
#include "cli/crash/place_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal_escape.h"
#include "cli/common/short_name.h"

static const char inlined[] = " (inlined)";

enum { NAME_MIN = 12, FILE_MIN = 10, GAP = 2, NO_FILE = 34 };

const char *ptc_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns asprintf's text, or NULL. */
__attribute__((format(printf, 1, 2))) static char *format(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}

/* Returns the place behind the name: "prog.c:31", "libc.so.6", or "". */
static char *where(const struct ptc_crash_place *p)
{
	if (p->source)
		return format("%s:%d", ptc_path_base(p->source), p->line);
	/* The program itself needs no name. */
	return strdup(p->file && strstr(p->file, ".so") ? ptc_path_base(p->file) : "");
}

/* Returns the end of @text that fits @width, with dots in front. */
static const char *end_that_fits(const char *text, size_t width, const char **ret_dots)
{
	const size_t columns = ptc_plain_width(text);
	bool plain;

	*ret_dots = columns > width ? "..." : "";
	if (columns <= width)
		return text;
	text += ptc_plain_fit(text, columns + 3 - width - 1);
	return text + ptc_plain_next(text, &plain); /* a whole character more */
}

/* Returns the columns that a name gets in any case. */
static size_t name_least(const char *name)
{
	const size_t width = name ? ptc_plain_width(name) : 0;

	return width < NAME_MIN ? width : NAME_MIN;
}

/* Join name, offset and @where. The name gets the columns that the rest leaves. */
static char *join(const struct ptc_crash_place *p, const char *where, size_t width)
{
	char *plain = ptc_short_name(p->function, SIZE_MAX), *name, *text;
	const size_t least = name_least(plain), gap = *where ? GAP : 0;
	size_t rest = ptc_plain_width(where) + gap;
	const char *dots = "";
	char offset[24];

	if (p->inlined)
		(void)snprintf(offset, sizeof(offset), "%s", inlined);
	else
		(void)snprintf(offset, sizeof(offset), "+0x%" PRIx64, p->offset);
	if (rest + strlen(offset) + least > width)
		*offset = '\0';
	rest += strlen(offset);
	if (rest + least > width && width >= least + gap + FILE_MIN) {
		where = end_that_fits(where, width - least - gap, &dots);
		rest = ptc_plain_width(where) + strlen(dots) + gap;
	}
	name = plain ? ptc_short_name(plain, width > rest ? width - rest : 1) : NULL;
	text = name ? format("%s%s%*s%s%s", name, offset, (int)gap, "", dots, where) : NULL;
	free(plain);
	free(name);
	return text;
}

char *ptc_place_text(const struct ptc_crash_place *p, size_t width)
{
	char *behind, *text;

	if (!p->function && p->file)
		return p->source ? format("%s+0x%" PRIx64 "  %s:%d", ptc_path_base(p->file),
					  p->file_offset, ptc_path_base(p->source), p->line) :
				   format("%s+0x%" PRIx64, ptc_path_base(p->file), p->file_offset);
	if (!p->function)
		return format(width < NO_FILE ? "0x%" PRIx64 : "0x%" PRIx64 " (not in a file)",
			      p->ip);
	behind = where(p);
	if (!behind)
		text = NULL;
	else if (width != SIZE_MAX)
		text = join(p, behind, width);
	else if (p->inlined)
		text = format("%s%s%s%s", p->function, inlined, *behind ? "  " : "", behind);
	else
		text = format("%s+0x%" PRIx64 "%s%s", p->function, p->offset, *behind ? "  " : "",
			      behind);
	free(behind);
	return text;
}

char *ptc_place_name(const struct ptc_crash_place *p, size_t width)
{
	if (!p->function)
		return format("0x%" PRIx64, p->ip);
	return width == SIZE_MAX ? strdup(p->function) : ptc_short_name(p->function, width);
}

char *ptc_place_bare_name(const struct ptc_crash_place *p, size_t width)
{
	return p->function ? ptc_bare_name(p->function, width) : ptc_place_name(p, width);
}
