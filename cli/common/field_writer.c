/* SPDX-License-Identifier: MIT */
#include "cli/common/field_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/common/jsontext.h"
#include "cli/common/text_escape.h"

/* Print the separator and name before a value or container. */
static void lead(struct ptc_emit *e, const char *name)
{
	const bool list = e->depth && e->at[e->depth - 1].kind == '[';
	const bool any = e->depth && e->at[e->depth - 1].any;

	if (e->depth)
		e->at[e->depth - 1].any = true;
	if (e->json) {
		if (any)
			putchar(',');
		if (name)
			printf("\"%s\":", name);
	} else {
		if (!list || any)
			putchar(' ');
		if (name)
			printf("%s=", name);
	}
}

static void push_nesting_level(struct ptc_emit *e, char kind)
{
	assert(e->depth < PTC_EMIT_DEPTH);
	e->at[e->depth].kind = kind;
	e->at[e->depth].any = false;
	e->depth++;
}

void ptc_emit_object(struct ptc_emit *e, const char *name)
{
	if (e->json) {
		lead(e, name);
		putchar('{');
	}
	push_nesting_level(e, '{');
}

void ptc_emit_list(struct ptc_emit *e, const char *name)
{
	lead(e, name);
	putchar('[');
	push_nesting_level(e, '[');
}

void ptc_emit_rows(struct ptc_emit *e, const char *name)
{
	if (e->json) {
		lead(e, name);
		putchar('[');
	}
	push_nesting_level(e, 'R');
	e->rows++;
}

void ptc_emit_row(struct ptc_emit *e)
{
	if (e->json)
		lead(e, NULL);
	if (e->json)
		putchar('{');
	else
		printf("\n#%*s", (int)(2 * e->rows), "");
	push_nesting_level(e, '{');
}

void ptc_emit_end(struct ptc_emit *e)
{
	const char kind = e->at[--e->depth].kind;

	e->rows -= kind == 'R';
	if (e->json)
		putchar(kind == '{' ? '}' : ']');
	else if (kind == '[')
		putchar(']');
}

void ptc_emit_unwind(struct ptc_emit *e, unsigned int depth)
{
	while (e->depth > depth)
		ptc_emit_end(e);
}

void ptc_emit_u64(struct ptc_emit *e, const char *name, uint64_t v)
{
	lead(e, name);
	printf("%" PRIu64, v);
}

void ptc_emit_i64(struct ptc_emit *e, const char *name, int64_t v)
{
	lead(e, name);
	printf("%" PRId64, v);
}

void ptc_emit_bool(struct ptc_emit *e, const char *name, bool v)
{
	lead(e, name);
	fputs(e->json ? (v ? "true" : "false") : (v ? "1" : "0"), stdout);
}

void ptc_emit_hex(struct ptc_emit *e, const char *name, uint64_t v)
{
	lead(e, name);
	printf(e->json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64, v);
}

static void json_text(struct ptc_emit *e, const char *s)
{
	json_t *j = s ? ptc_json_text(s) : json_null();
	char *text = ptc_json_dumps(j, JSON_ENCODE_ANY);

	if (text)
		fputs(text, stdout);
	else
		e->failed = true;
	free(text);
	json_decref(j);
}

void ptc_emit_text(struct ptc_emit *e, const char *name, const char *s)
{
	lead(e, name);
	if (e->json)
		json_text(e, s);
	else if (s)
		ptc_show_text(s);
	else
		putchar('-');
}

void ptc_emit_word(struct ptc_emit *e, const char *name, const char *s)
{
	lead(e, name);
	printf(e->json ? "\"%s\"" : "%s", s);
}

void ptc_emit_time(struct ptc_emit *e, const char *name, uint64_t ns)
{
	if (e->json) {
		char unit[64];

		(void)snprintf(unit, sizeof(unit), "%s_ns", name);
		ptc_emit_u64(e, unit, ns);
	} else {
		lead(e, name);
		ptc_show_time(ns);
	}
}

void ptc_emit_bytes(struct ptc_emit *e, const char *name, struct ptc_cur c)
{
	const size_t n = ptc_cur_left(&c);
	size_t i;

	lead(e, name);
	if (e->json)
		putchar('"');
	for (i = 0; i < n && i < PTC_EMIT_BYTES; i++)
		printf("%02x", c.pos[i]);
	if (n > PTC_EMIT_BYTES)
		fputs("...", stdout);
	if (e->json)
		putchar('"');
}
