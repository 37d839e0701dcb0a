/* SPDX-License-Identifier: MIT */
#include "cli/decode/out_coverage.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "cli/common/jsontext.h"
#include "cli/decode/coverage.h"
#include "cli/decode/line_buffer.h"

static double percent(size_t part, size_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_text_head(struct ptc_line *l, const struct ptc_counts *c,
			  const struct ptc_coverage *v)
{
	char head[256];

	(void)snprintf(head, sizeof(head),
		       "# %zu of %zu lines ran (%.1f %%), in %zu files; %" PRIu64
		       " blocks, %" PRIu64 " of them without a known line\n",
		       v->ran, v->lines, percent(v->ran, v->lines), v->n, c->blocks, c->lineless);
	ptc_line_str(l, head);
	(void)snprintf(head, sizeof(head), "#%7s %8s %7s  %s\n", "lines", "ran", "%",
		       "file: lines that did not run");
	ptc_line_str(l, head);
}

static void put_text(struct ptc_line *l, const struct ptc_coverage_file *f)
{
	struct ptc_coverage_gap gap;
	const char *between = ": ";
	char head[64];
	size_t at = 0;

	(void)snprintf(head, sizeof(head), "%8zu %8zu %7.1f  ", f->n, f->ran,
		       percent(f->ran, f->n));
	ptc_line_str(l, head);
	ptc_print_label(l, f->name);
	while (ptc_coverage_next(f, &at, &gap)) {
		ptc_line_str(l, between);
		ptc_line_dec(l, (int64_t)gap.first);
		if (gap.last != gap.first) {
			ptc_line_char(l, '-');
			ptc_line_dec(l, (int64_t)gap.last);
		}
		between = ",";
	}
	ptc_line_char(l, '\n');
}

static json_t *head_object(const struct ptc_counts *c, const struct ptc_coverage *v)
{
	return json_pack("{s:s, s:i, s:s, s:I, s:I, s:I, s:I, s:I, s:I}", "schema",
			 "ptcap-decode-counts", "version", 1, "of", "coverage", "files",
			 (json_int_t)v->n, "lines", (json_int_t)v->lines, "ran", (json_int_t)v->ran,
			 "blocks", (json_int_t)c->blocks, "lineless", (json_int_t)c->lineless,
			 "gaps", (json_int_t)c->gaps);
}

static json_t *not_run(const struct ptc_coverage_file *f)
{
	json_t *a = json_array();
	struct ptc_coverage_gap gap;
	size_t at = 0;

	while (a && ptc_coverage_next(f, &at, &gap))
		if (json_array_append_new(
			    a, json_pack("[I, I]", (json_int_t)gap.first, (json_int_t)gap.last))) {
			json_decref(a);
			a = NULL;
		}
	return a;
}

/* Returns the stretches of consecutive lines with code. */
static json_t *lines_with_code(const struct ptc_coverage_file *f)
{
	json_t *a = json_array();
	size_t i, first;

	for (i = 0; a && i < f->n; i++) {
		for (first = i;
		     i + 1 < f->n && f->lines[i + 1].from.off == f->lines[i].from.off + 1;)
			i++;
		if (json_array_append_new(a,
					  json_pack("[I, I]", (json_int_t)f->lines[first].from.off,
						    (json_int_t)f->lines[i].from.off))) {
			json_decref(a);
			a = NULL;
		}
	}
	return a;
}

static json_t *file_object(const struct ptc_coverage_file *f)
{
	return json_pack("{s:s, s:o, s:I, s:I, s:o, s:o}", "type", "file", "file",
			 ptc_json_text(f->name), "lines", (json_int_t)f->n, "ran",
			 (json_int_t)f->ran, "not_run", not_run(f), "code", lines_with_code(f));
}

bool ptc_coverage_print(const struct ptc_counts *c, struct ptc_line *l, size_t most, bool json)
{
	struct ptc_coverage v;
	bool ok = ptc_coverage_make(&v, c);
	const size_t n = most && most < v.n ? most : v.n;
	size_t i;

	if (ok && json)
		ok = ptc_line_json(l, head_object(c, &v));
	else if (ok)
		put_text_head(l, c, &v);
	for (i = 0; i < n && ok; i++) {
		if (json)
			ok = ptc_line_json(l, file_object(&v.files[i]));
		else
			put_text(l, &v.files[i]);
	}
	ptc_coverage_release(&v);
	return ok;
}
