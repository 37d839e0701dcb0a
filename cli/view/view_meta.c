/* SPDX-License-Identifier: MIT */
#include "cli/view/view_meta.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/jsontext.h"

enum { SOURCES_MAX = 32 << 20 }; /* bytes of all source files */

/* --- JSON --- */

static void put_str(struct ptc_buf *b, const char *s)
{
	ptc_buf_put(b, s, strlen(s));
}

static void put_number(struct ptc_buf *b, uint64_t v)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRIu64, v);
	put_str(b, text);
}

static void put_hex(struct ptc_buf *b, uint64_t v)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "\"%" PRIx64 "\"", v);
	put_str(b, text);
}

/* Append @s, which may be NULL, as a JSON string. */
static void put_json_text(struct ptc_buf *b, const char *s)
{
	json_t *j = ptc_json_text(s ? s : "");
	char *text = ptc_json_dumps(j, JSON_ENCODE_ANY);

	if (text)
		put_str(b, text);
	else
		b->failed = true;
	free(text);
	json_decref(j);
}

/* Append the key of the next member. */
static void put_key(struct ptc_buf *b, const char *key)
{
	const uint8_t last = b->len ? b->bytes[b->len - 1] : '{';

	put_str(b, last == '{' ? "\"" : ",\"");
	put_str(b, key);
	put_str(b, "\":");
}

/* Appends the list @key with a value for each of @n entries: @put appends value @i. */
static void put_list(struct ptc_buf *b, const char *key, const void *of, size_t n,
		     void (*put)(struct ptc_buf *b, const void *of, size_t i))
{
	size_t i;

	put_key(b, key);
	put_str(b, "[");
	for (i = 0; i < n && !ptc_buf_failed(b); i++) {
		if (i)
			put_str(b, ",");
		put(b, of, i);
	}
	put_str(b, "]");
}

/* --- columns --- */

static void put_text_of_pool(struct ptc_buf *b, const void *of, size_t i)
{
	const struct ptc_call_collector *c = of;

	put_json_text(b, ptc_names_of(&c->stream.names, (uint32_t)i));
}

#define COLUMN(name, type, member, put)                                                            \
	static void name(struct ptc_buf *b, const void *of, size_t i)                              \
	{                                                                                          \
		const type *v = of;                                                                \
                                                                                                   \
		put(b, (uint64_t)v[i].member);                                                     \
	}

COLUMN(put_function_name, struct ptc_function, name, put_number)
COLUMN(put_function_file, struct ptc_function, file, put_number)
COLUMN(put_function_off, struct ptc_function, off, put_hex)
COLUMN(put_function_inlined, struct ptc_function, inlined, put_number)
COLUMN(put_calls, struct ptc_view_function, calls, put_number)
COLUMN(put_self, struct ptc_view_function, self.insns, put_number)
COLUMN(put_total, struct ptc_view_function, total.insns, put_number)
COLUMN(put_self_ns, struct ptc_view_function, self.time_ns, put_number)
COLUMN(put_total_ns, struct ptc_view_function, total.time_ns, put_number)
COLUMN(put_source, struct ptc_view_function, source, put_number)
COLUMN(put_line, struct ptc_view_function, line, put_number)
COLUMN(put_site_file, struct ptc_call_site, file, put_number)
COLUMN(put_site_function, struct ptc_call_site, function, put_number)
COLUMN(put_edge_from, struct ptc_view_edge, from, put_number)
COLUMN(put_edge_to, struct ptc_view_edge, to, put_number)
COLUMN(put_edge_kind, struct ptc_view_edge, kind, put_number)
COLUMN(put_site_source, struct ptc_call_site, source, put_number)
COLUMN(put_site_line, struct ptc_call_site, line, put_number)

static void put_row(struct ptc_buf *b, const void *of, size_t i)
{
	const uint64_t *calls = of;

	put_number(b, calls[i]);
}

static void put_site_off(struct ptc_buf *b, const void *of, size_t i)
{
	const struct ptc_call_site *v = of;

	if (v[i].in_func == UINT64_MAX)
		put_hex(b, v[i].off);
	else
		put_number(b, v[i].in_func);
}

static void put_functions(struct ptc_buf *b, const struct ptc_call_collector *c)
{
	put_key(b, "functions");
	put_str(b, "{");
	put_list(b, "name", c->stream.functions, c->nsums, put_function_name);
	put_list(b, "file", c->stream.functions, c->nsums, put_function_file);
	put_list(b, "off", c->stream.functions, c->nsums, put_function_off);
	put_list(b, "inlined", c->stream.functions, c->nsums, put_function_inlined);
	put_list(b, "calls", c->sums, c->nsums, put_calls);
	put_list(b, "self", c->sums, c->nsums, put_self);
	put_list(b, "total", c->sums, c->nsums, put_total);
	if (c->times) {
		put_list(b, "self_ns", c->sums, c->nsums, put_self_ns);
		put_list(b, "total_ns", c->sums, c->nsums, put_total_ns);
	}
	put_list(b, "source", c->sums, c->nsums, put_source);
	put_list(b, "line", c->sums, c->nsums, put_line);
	put_str(b, "}");
}

static void put_sites(struct ptc_buf *b, const char *key, const struct ptc_call_sites *s)
{
	put_key(b, key);
	put_str(b, "{");
	put_list(b, "off", s->v, s->n, put_site_off);
	put_list(b, "file", s->v, s->n, put_site_file);
	put_list(b, "function", s->v, s->n, put_site_function);
	put_list(b, "source", s->v, s->n, put_site_source);
	put_list(b, "line", s->v, s->n, put_site_line);
	put_str(b, "}");
}

static void put_kind(struct ptc_buf *b, const void *of, size_t i)
{
	(void)of;
	put_json_text(b, ptc_kind_name((enum ptc_kind)i));
}

static void put_branches(struct ptc_buf *b, const struct ptc_branch_collector *branches)
{
	put_key(b, "branches");
	put_str(b, "{");
	put_key(b, "limit");
	put_number(b, branches->limit);
	put_key(b, "over");
	put_str(b, branches->over ? "true" : "false");
	put_list(b, "kinds", NULL, PTC_KIND_COUNT, put_kind);
	put_sites(b, "places", &branches->sites);
	put_list(b, "from", branches->v, branches->nv, put_edge_from);
	put_list(b, "to", branches->v, branches->nv, put_edge_to);
	put_list(b, "kind", branches->v, branches->nv, put_edge_kind);
	put_str(b, "}");
}

/* --- threads and gaps --- */

static void put_signed(struct ptc_buf *b, int64_t v)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, v);
	put_str(b, text);
}

static void put_moment(struct ptc_buf *b, const char *key, struct ptc_view_moment at)
{
	put_key(b, key);
	put_str(b, "[");
	put_number(b, at.insns);
	put_str(b, ",");
	put_number(b, at.time_ns);
	put_str(b, "]");
}

static void put_thread(struct ptc_buf *b, const void *of, size_t i)
{
	const struct ptc_view_facts *facts = of;
	const struct ptc_view_thread *t = &facts->c->threads[i];
	const struct ptc_call_thread *id = &facts->c->stream.threads[i];

	put_str(b, "{");
	put_key(b, "pid");
	put_signed(b, id->pid);
	put_key(b, "tid");
	put_signed(b, id->tid);
	put_key(b, "name");
	put_json_text(b, *id->name ? id->name : NULL);
	put_moment(b, "first", t->first);
	put_moment(b, "last", t->last);
	put_key(b, "branches");
	put_number(b, facts->c->branches.over ? 0 : t->branches.n);
	put_moment(b, "end", (struct ptc_view_moment){ t->branches.insns, t->branches.time_ns });
	put_list(b, "rows", t->rows, t->nrows, put_row);
	put_str(b, "}");
}

static void put_gap(struct ptc_buf *b, const void *of, size_t i)
{
	const struct ptc_view_gap *v = of, *g = &v[i];

	put_str(b, "{");
	put_key(b, "thread");
	put_signed(b, g->thread == PTC_NO_NUMBER ? -1 : (int64_t)g->thread);
	put_moment(b, "at", g->at);
	put_key(b, "cause");
	put_json_text(b, ptc_gap_name(g->cause));
	put_key(b, "bytes");
	put_number(b, g->bytes);
	put_str(b, "}");
}

static void put_crash_line(struct ptc_buf *b, const void *of, size_t i)
{
	const struct ptc_screen *s = of;

	put_json_text(b, s->lines[i].text);
}

static void put_crash(struct ptc_buf *b, const struct ptc_crash_lines *crash)
{
	put_key(b, "crash");
	put_str(b, "{");
	put_key(b, "tid");
	put_signed(b, crash->tid);
	put_list(b, "lines", &crash->screen, crash->screen.n, put_crash_line);
	put_str(b, "}");
}

/* Appends each source file as one text. Files that cannot be read are left out. */
static void put_source_files(struct ptc_buf *b, const struct ptc_view_facts *facts)
{
	const struct ptc_call_collector *c = facts->c;
	struct ptc_buf file = PTC_BUF_INIT;
	size_t left = SOURCES_MAX;
	uint32_t i;

	put_key(b, "sources");
	put_str(b, "{");
	for (i = 1; i < c->sources.n; i++) {
		char key[24];

		if (!ptc_view_sources_read(&c->sources, &c->stream.names, facts->symfs, i, &left,
					   &file))
			continue;
		(void)snprintf(key, sizeof(key), "%" PRIu32, i);
		put_key(b, key);
		put_json_text(b, (const char *)file.bytes);
	}
	put_str(b, "}");
	ptc_buf_release(&file);
}

bool ptc_view_meta(const struct ptc_view_facts *facts, struct ptc_buf *ret)
{
	const struct ptc_call_collector *c = facts->c;

	put_str(ret, "{");
	put_key(ret, "format");
	put_number(ret, 1);
	put_key(ret, "recording");
	put_json_text(ret, facts->recording);
	put_key(ret, "software");
	put_str(ret, facts->is_of_software ? "true" : "false");
	put_key(ret, "times");
	put_str(ret, c->times && c->first_ns != PTC_NO_TIME ? "true" : "false");
	put_key(ret, "first_ns");
	put_signed(ret, c->first_ns == PTC_NO_TIME ? 0 : (int64_t)c->first_ns);
	put_key(ret, "calls");
	put_number(ret, c->ncalls);
	put_key(ret, "lost");
	put_number(ret, c->nlost);
	/* Text 0 is the text that is not known. */
	put_list(ret, "texts", c, c->stream.names.n + 1, put_text_of_pool);
	put_functions(ret, c);
	put_sites(ret, "sites", &c->sites);
	put_branches(ret, &c->branches);
	put_source_files(ret, facts);
	put_list(ret, "threads", facts, c->nthreads, put_thread);
	put_list(ret, "gaps", c->gaps, c->ngaps, put_gap);
	if (facts->crash->screen.n)
		put_crash(ret, facts->crash);
	put_str(ret, "}");
	return !ptc_buf_failed(ret);
}
