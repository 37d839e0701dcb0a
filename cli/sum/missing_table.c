/* SPDX-License-Identifier: MIT */
#include "cli/sum/missing_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "cli/common/jsontext.h"
#include "cli/sum/sum_json.h"

/* LIMIT: more files than a recording names. The rows are searched one by one. */
enum { COUNTS = 3, TEXTS = 5, LIMIT = 1 << 14 };

static const char *const counts[COUNTS] = { "gaps", "bytes", "branches" };
/* The first two are the key. found_path and found_build_id belong together. */
static const char *const texts[TEXTS] = { "file", "build_id", "found_path", "found_build_id",
					  "hint" };

struct ptc_missing_row {
	char *texts[TEXTS]; /* owned; NULL: not there */
	uint64_t counts[COUNTS];
};

/* Compares texts, of which NULL is the first. */
static int by_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_first_texts(const void *a, const void *b)
{
	const struct ptc_missing_row *x = a, *y = b;
	const int r = by_text(x->texts[0], y->texts[0]);

	return r ? r : by_text(x->texts[1], y->texts[1]);
}

static int by_all_texts(const struct ptc_missing_row *a, const struct ptc_missing_row *b)
{
	int r = 0;
	size_t i;

	for (i = 0; i < TEXTS && !r; i++)
		r = by_text(a->texts[i], b->texts[i]);
	return r;
}

static void release_row(struct ptc_missing_row *row)
{
	size_t i;

	for (i = 0; i < TEXTS; i++)
		free(row->texts[i]);
}

/* Reads the object of @l. Caller releases *@ret, also on failure. */
static int read_row(const struct ptc_sum_line *l, struct ptc_missing_row *ret, struct ptc_err *err)
{
	const char *text;
	int rc = 0;
	size_t i;

	*ret = (struct ptc_missing_row){ .counts = { 0 } };
	for (i = 0; i < COUNTS && !rc; i++)
		rc = ptc_sum_json_count(l, l->json, counts[i], &ret->counts[i], err);
	for (i = 0; i < TEXTS && !rc; i++) {
		rc = ptc_sum_json_maybe_text(l, l->json, texts[i], &text, err);
		if (rc || !text)
			continue;
		ret->texts[i] = strdup(text);
		if (!ret->texts[i])
			rc = ptc_fail_mem(err);
	}
	return rc;
}

/* Adds @row to the row of the same file, which keeps the texts that are first in their order. */
static void merge_row(struct ptc_missing_row *into, struct ptc_missing_row *row)
{
	struct ptc_missing_row swapped = *into;
	size_t i;

	if (by_all_texts(row, into) < 0) {
		memcpy(into->texts, row->texts, sizeof(into->texts));
		memcpy(row->texts, swapped.texts, sizeof(row->texts));
	}
	for (i = 0; i < COUNTS; i++)
		ptc_sum_add(&into->counts[i], row->counts[i]);
	release_row(row);
}

int ptc_missing_table_add(struct ptc_missing_table *t, const struct ptc_sum_line *l,
			  struct ptc_err *err)
{
	struct ptc_missing_row row;
	int rc = read_row(l, &row, err);
	size_t i;

	for (i = 0; i < t->n && !rc; i++)
		if (!by_first_texts(&t->rows[i], &row)) {
			merge_row(&t->rows[i], &row);
			return 0;
		}
	if (!rc && t->n == LIMIT)
		rc = ptc_sum_fail(err, l, "more than %d files have missing code", LIMIT);
	if (!rc && !ptc_grow(&t->rows, &t->cap, t->n + 1, sizeof(*t->rows)))
		rc = ptc_fail_mem(err);
	if (rc)
		release_row(&row);
	else
		t->rows[t->n++] = row;
	return rc;
}

static json_t *row_object(const struct ptc_missing_row *row)
{
	json_t *o = json_pack("{s:s}", "type", "missing");
	int bad = !o;
	size_t i;

	for (i = 0; i < TEXTS - 1; i++)
		if (row->texts[i])
			bad |= json_object_set_new(o, texts[i], json_string(row->texts[i]));
	for (i = 0; i < COUNTS; i++)
		bad |= json_object_set_new(o, counts[i], ptc_json_uint(row->counts[i]));
	if (row->texts[TEXTS - 1])
		bad |= json_object_set_new(o, texts[TEXTS - 1], json_string(row->texts[TEXTS - 1]));
	if (!bad)
		return o;
	json_decref(o);
	return NULL;
}

bool ptc_missing_table_print(struct ptc_missing_table *t, struct ptc_line *l)
{
	bool ok = true;
	size_t i;

	if (t->n)
		qsort(t->rows, t->n, sizeof(*t->rows), by_first_texts);
	for (i = 0; i < t->n && ok; i++)
		ok = ptc_line_json(l, row_object(&t->rows[i]));
	return ok;
}

void ptc_missing_table_release(struct ptc_missing_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		release_row(&t->rows[i]);
	free(t->rows);
}
