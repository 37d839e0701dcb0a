/* SPDX-License-Identifier: MIT */
#include "arch/asan_report.h"

#include <stdio.h>
#include <string.h>

#include "base/cursor.h"

enum {
	WORD = 8,
	PAGE = 4096,
	SEARCHED = 32 << 10, /* bytes of the stack */
	STEP = 512,
	FRONT = 65,	   /* signs '=' in the first line */
	REPORT = 16 << 10, /* bytes of the report that are read; stacks take most of them */
	PART = 1024,
	USER = 47, /* bits of an address */
	LOWEST = 1 << 16,
	ESCAPE = 0x1b,
};

/* Does the memory at @addr begin with the first line of a report? */
static bool has_front(const struct ptc_memory_view *v, uint64_t addr)
{
	char bytes[FRONT + 1];
	size_t i;

	if (addr < LOWEST || addr >> USER || addr % PAGE ||
	    !ptc_view_read(v, addr, bytes, sizeof(bytes)))
		return false;
	for (i = 0; i < FRONT; i++)
		if (bytes[i] != '=')
			return false;
	return bytes[FRONT] == '\n';
}

bool ptc_asan_report_find(const struct ptc_memory_view *v, uint64_t sp, uint64_t *ret)
{
	const uint64_t from = (sp + WORD - 1) & ~(uint64_t)(WORD - 1);
	struct ptc_asan_report report;
	uint8_t bytes[STEP];
	size_t done, n, i;

	for (done = 0; done < SEARCHED; done += STEP) {
		n = v->read(v->ctx, from + done, bytes, sizeof(bytes));
		for (i = 0; i + WORD <= n; i += WORD)
			if (has_front(v, ptc_le64(bytes + i)) &&
			    ptc_asan_report_read(v, ptc_le64(bytes + i), &report)) {
				*ret = ptc_le64(bytes + i);
				return true;
			}
		if (n < sizeof(bytes))
			return false;
	}
	return false;
}

/* --- reading --- */

/* Reads the report without the sequences that colour it, up to its end or the limit. */
static void read_report(const struct ptc_memory_view *v, uint64_t addr, char ret[REPORT])
{
	uint8_t part[PART];
	bool coloured = false;
	size_t len = 0, done, n, i;

	for (done = 0; done < REPORT; done += n) {
		n = v->read(v->ctx, addr + done, part, sizeof(part));
		for (i = 0; i < n && part[i] && len + 1 < REPORT; i++) {
			if (coloured)
				coloured = part[i] != 'm';
			else if (part[i] == ESCAPE)
				coloured = true;
			else
				ret[len++] = (char)part[i];
		}
		if (i < sizeof(part))
			break;
	}
	ret[len] = '\0';
}

/* Returns the line after @at, or NULL. */
static const char *next_line(const char *at)
{
	const char *end = strchr(at, '\n');

	return end ? end + 1 : NULL;
}

/* Appends a line to the text, after a separator. */
static void add_line(struct ptc_asan_report *r, const char *line, size_t n)
{
	const size_t len = strlen(r->text);
	const int done = snprintf(r->text + len, sizeof(r->text) - len, "%s%.*s", len ? "; " : "",
				  (int)n, line);

	r->text_cut |= done < 0 || (size_t)done >= sizeof(r->text) - len;
}

static bool line_has(const char *line, size_t n, const char *part)
{
	return memmem(line, n, part, strlen(part)) != NULL;
}

static bool is_access(const char *line)
{
	return !strncmp(line, "READ of ", 8) || !strncmp(line, "WRITE of ", 9);
}

/* Appends @line of @n bytes if it is a statement about the access or its address. */
static void take_statement(struct ptc_asan_report *r, const char *line, size_t n)
{
	static const char caused[] = "The signal is caused by ";
	const char *at = memmem(line, n, caused, strlen(caused));

	if (at) /* behind the process ID */
		add_line(r, at, n - (size_t)(at - line));
	else if (is_access(line) || (!strncmp(line, "0x", 2) && line_has(line, n, " is located ")))
		add_line(r, line, n);
}

/* Gets the word after @name, or returns false. */
static bool take_word(const char *from, const char *name, char *ret, size_t size)
{
	const char *at = strstr(from, name);
	size_t n = at ? strcspn(at + strlen(name), " \n") : 0;

	if (!n || n >= size)
		return false;
	memcpy(ret, at + strlen(name), n);
	ret[n] = '\0';
	return true;
}

/* Appends the first line, without the kind in front and without a colon at the end. */
static void take_head(struct ptc_asan_report *r, const char *head)
{
	const size_t kind = strlen(r->kind);
	size_t n = strcspn(head, "\n");

	if (n > kind + 1 && !strncmp(head, r->kind, kind) && head[kind] == ' ') {
		head += kind + 1;
		n -= kind + 1;
	}
	add_line(r, head, n - (n && head[n - 1] == ':'));
}

/*
 * Each report ends with a summary, whose first word is the kind of the error. The first line has
 * longer words for some kinds, and matters if no line about the access follows.
 */
static bool parse(const char *report, struct ptc_asan_report *ret)
{
	static const char name[] = "ERROR: AddressSanitizer: ";
	const char *line = next_line(report), *head;

	head = line ? strstr(line, name) : NULL;
	if (!head || (size_t)(head - line) >= strcspn(line, "\n"))
		return false;
	head += strlen(name);
	if (!take_word(head, "SUMMARY: AddressSanitizer: ", ret->kind, sizeof(ret->kind)) &&
	    !take_word(head, "", ret->kind, sizeof(ret->kind)))
		return false;
	line = next_line(head);
	if (!line || !is_access(line))
		take_head(ret, head);
	for (; line && strncmp(line, "SUMMARY: ", 9) != 0; line = next_line(line))
		take_statement(ret, line, strcspn(line, "\n"));
	return ptc_is_text(ret->kind) && ptc_is_text(ret->text);
}

bool ptc_asan_report_read(const struct ptc_memory_view *v, uint64_t addr,
			  struct ptc_asan_report *ret)
{
	char report[REPORT];

	*ret = (struct ptc_asan_report){ .text_cut = false };
	if (!has_front(v, addr))
		return false;
	read_report(v, addr, report);
	return parse(report, ret);
}
