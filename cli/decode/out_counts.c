/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/hex.h"
#include "cli/common/jsontext.h"
#include "cli/decode/branch_counts.h"
#include "cli/decode/line_buffer.h"
#include "cli/decode/out_coverage.h"

static const struct {
	const char *name, *what, *from, *to;
} words[] = {
	[PTC_COUNTS_EDGES] = { "edges", "branches", "from", "to" },
	[PTC_COUNTS_CALLS] = { "calls", "calls", "from", "to" },
	[PTC_COUNTS_BLOCKS] = { "blocks", "blocks", "first", "last" },
	[PTC_COUNTS_LINES] = { "lines", "lines", NULL, NULL },
};

/* TAKEN: columns of the count, the percentage, the kind and the arrow. */
enum { TAKEN = 37, OFFSET_ROOM = PTC_HEX_ROOM + 4, SHORT_NAME_MIN = 12 };

/* Print function and offset in @width columns (0: no limit). */
static void put_function(struct ptc_line *l, const char *name, const char *offset, size_t width)
{
	const size_t n = strlen(offset);

	if (width)
		ptc_print_short_name(l, name,
				     width > n + SHORT_NAME_MIN ? width - n : SHORT_NAME_MIN);
	else
		ptc_print_label(l, name);
	ptc_line_str(l, offset);
}

/*
 * Print function, offset and file; without a function file and offset; without a file the address.
 * @width: columns (0: no limit). The file is omitted if the function's name has no space beside it.
 */
static void put_place(struct ptc_line *l, const struct ptc_counts *c,
		      const struct ptc_counts_place *p, size_t width)
{
	const char *symbol = ptc_names_of(&c->names, p->symbol);
	const char *file = ptc_names_of(&c->names, p->file), *base;
	const uint64_t off = symbol ? p->symbol_off : p->off;
	char offset[OFFSET_ROOM] = "";
	size_t n;

	if (!symbol && !file) {
		ptc_line_str(l, "0x");
		ptc_line_hex(l, p->ip);
		return;
	}
	if (off || !symbol)
		(void)snprintf(offset, sizeof(offset), "+0x%" PRIx64, off);
	base = file ? strrchr(file, '/') : NULL;
	file = base ? base + 1 : file;
	n = file ? strlen(file) + strlen(" ()") : 0;
	if (symbol && width && width < n + strlen(offset) + SHORT_NAME_MIN)
		n = 0;
	if (symbol)
		put_function(l, symbol, offset, width ? width - n : 0);
	if (!n)
		return;
	ptc_line_str(l, symbol ? " (" : "(");
	ptc_print_label(l, file);
	if (!symbol)
		ptc_line_str(l, offset);
	ptc_line_char(l, ')');
}

static void put_text(struct ptc_line *l, const struct ptc_counts *c,
		     const struct ptc_counts_entry *e, size_t width)
{
	const size_t each = width > TAKEN + 2 ? (width - TAKEN) / 2 : !!width;
	char head[64];

	(void)snprintf(head, sizeof(head), "%14" PRIu64 " %7.3f  ", e->times,
		       100.0 * (double)e->times / (double)c->times);
	ptc_line_str(l, head);
	if (c->of == PTC_COUNTS_LINES) {
		ptc_print_label(l, ptc_names_of(&c->names, e->from.file));
		ptc_line_char(l, ':');
		ptc_line_dec(l, (int64_t)e->from.off);
	} else {
		(void)snprintf(head, sizeof(head), "%-8s ", ptc_kind_name(e->kind));
		ptc_line_str(l, head);
		if (e->from.ip)
			put_place(l, c, &e->from, each);
		ptc_line_str(l, c->of == PTC_COUNTS_BLOCKS ? " .. " : " -> ");
		if (e->to.ip)
			put_place(l, c, &e->to, each);
	}
	ptc_line_char(l, '\n');
}

static void put_text_head(struct ptc_line *l, const struct ptc_counts *c)
{
	const bool lines = c->of == PTC_COUNTS_LINES;
	char head[128];

	(void)snprintf(head, sizeof(head), "# %" PRIu64 " %s, %zu different", c->times,
		       words[c->of].what, c->n);
	ptc_line_str(l, head);
	if (lines) {
		(void)snprintf(head, sizeof(head),
			       ", from %" PRIu64 " blocks, %" PRIu64
			       " of them without a known line",
			       c->blocks, c->lineless);
		ptc_line_str(l, head);
	}
	(void)snprintf(head, sizeof(head), "\n#%13s %7s  %s\n", "times", "%",
		       lines ? "line" : "kind");
	ptc_line_str(l, head);
}

/* Set @key to the address, and the known details with @key as prefix. */
static bool set_place(json_t *o, const struct ptc_counts *c, const char *key,
		      const struct ptc_counts_place *p)
{
	const char *symbol = ptc_names_of(&c->names, p->symbol);
	const char *file = ptc_names_of(&c->names, p->file);
	char name[32], hex[32];
	int bad;

	(void)snprintf(hex, sizeof(hex), "0x%" PRIx64, p->ip);
	bad = json_object_set_new(o, key, json_string(hex));
	if (symbol) {
		(void)snprintf(name, sizeof(name), "%s_function", key);
		bad |= json_object_set_new(o, name, ptc_json_text(symbol));
		(void)snprintf(name, sizeof(name), "%s_function_offset", key);
		bad |= json_object_set_new(o, name, json_integer((json_int_t)p->symbol_off));
	}
	if (file) {
		(void)snprintf(name, sizeof(name), "%s_file", key);
		bad |= json_object_set_new(o, name, ptc_json_text(file));
		(void)snprintf(name, sizeof(name), "%s_file_offset", key);
		(void)snprintf(hex, sizeof(hex), "0x%" PRIx64, p->off);
		bad |= json_object_set_new(o, name, json_string(hex));
	}
	if (p->id) {
		(void)snprintf(name, sizeof(name), "%s_build_id", key);
		bad |= json_object_set_new(o, name, json_string(ptc_names_of(&c->names, p->id)));
	}
	return !bad;
}

static json_t *line_object(const struct ptc_counts *c, const struct ptc_counts_entry *e)
{
	return json_pack("{s:s, s:I, s:o, s:I}", "type", "count", "times", (json_int_t)e->times,
			 "file", ptc_json_text(ptc_names_of(&c->names, e->from.file)), "line",
			 (json_int_t)e->from.off);
}

static json_t *pair_object(const struct ptc_counts *c, const struct ptc_counts_entry *e)
{
	json_t *o = json_pack("{s:s, s:I, s:s}", "type", "count", "times", (json_int_t)e->times,
			      "kind", ptc_kind_name(e->kind));

	if (o && set_place(o, c, words[c->of].from, &e->from) &&
	    set_place(o, c, words[c->of].to, &e->to))
		return o;
	json_decref(o);
	return NULL;
}

static bool put_json(struct ptc_line *l, const struct ptc_counts *c,
		     const struct ptc_counts_entry *e)
{
	return ptc_line_json(l, c->of == PTC_COUNTS_LINES ? line_object(c, e) : pair_object(c, e));
}

static bool put_json_head(struct ptc_line *l, const struct ptc_counts *c)
{
	json_t *o = json_pack("{s:s, s:i, s:s, s:I, s:I, s:I}", "schema", "ptcap-decode-counts",
			      "version", 1, "of", words[c->of].name, "times", (json_int_t)c->times,
			      "different", (json_int_t)c->n, "gaps", (json_int_t)c->gaps);

	if (o && c->of == PTC_COUNTS_LINES &&
	    (json_object_set_new(o, "blocks", json_integer((json_int_t)c->blocks)) ||
	     json_object_set_new(o, "lineless", json_integer((json_int_t)c->lineless)))) {
		json_decref(o);
		o = NULL;
	}
	return ptc_line_json(l, o);
}

bool ptc_counts_print(const struct ptc_counts *c, struct ptc_line *l, size_t most, size_t width,
		      bool json)
{
	const size_t n = most && most < c->n ? most : c->n;
	size_t i;

	if (c->of == PTC_COUNTS_COVERAGE)
		return ptc_coverage_print(c, l, most, json);
	if (!json)
		put_text_head(l, c);
	else if (!put_json_head(l, c))
		return false;
	for (i = 0; i < n; i++) {
		if (!json)
			put_text(l, c, &c->entries[i], width);
		else if (!put_json(l, c, &c->entries[i]))
			return false;
	}
	return true;
}
