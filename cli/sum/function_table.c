/* SPDX-License-Identifier: MIT */
#include "cli/sum/function_table.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/jsontext.h"
#include "cli/sum/sum_line.h"

/*
 * A function is identified by build-id and offset, or else by file and offset, or else by its name.
 * Inlined functions have no offset, so their names count, too.
 */
static uint32_t place_of(const struct ptc_function_row *r)
{
	return r->id ? r->id : r->file;
}

static uint32_t name_in_key(const struct ptc_function_row *r)
{
	return r->inlined || !place_of(r) ? r->name : 0;
}

static uint64_t offset_in_key(const struct ptc_function_row *r)
{
	return place_of(r) ? r->off : 0;
}

static uint64_t hash_of_row(const void *entry)
{
	const struct ptc_function_row *r = entry;
	const uint64_t hash = ptc_hash_mix(place_of(r), (uint64_t)name_in_key(r) << 1 | r->inlined);

	return ptc_hash_mix(hash, offset_in_key(r));
}

static bool is_same_row(const void *entry, const void *key)
{
	const struct ptc_function_row *a = entry, *b = key;

	return place_of(a) == place_of(b) && a->id == b->id && name_in_key(a) == name_in_key(b) &&
	       offset_in_key(a) == offset_in_key(b) && a->inlined == b->inlined;
}

static void merge_axis(struct ptc_function_axis *a, const struct ptc_function_axis *more)
{
	if (!a->known) {
		a->p99 = more->p99;
		a->has_p99 = more->has_p99;
	} else if (more->known) {
		a->has_p99 = false;
	}
	a->there &= more->there;
	ptc_sum_add(&a->self, more->self);
	ptc_sum_add(&a->total, more->total);
	ptc_sum_add(&a->known, more->known);
	ptc_sum_add(&a->durations, more->durations);
	if (more->max > a->max)
		a->max = more->max;
}

static void merge_row(const struct ptc_names *names, struct ptc_function_row *r,
		      const struct ptc_function_row *more)
{
	size_t i;

	if (ptc_names_compare(names, more->name, r->name) < 0)
		r->name = more->name;
	if (more->file && (!r->file || ptc_names_compare(names, more->file, r->file) < 0))
		r->file = more->file;
	if (more->off < r->off) /* an address */
		r->off = more->off;
	ptc_sum_add(&r->calls, more->calls);
	ptc_sum_add(&r->open, more->open);
	for (i = 0; i < PTC_FUNCTION_AXES; i++)
		merge_axis(&r->axes[i], &more->axes[i]);
}

bool ptc_function_table_head(struct ptc_function_table *t, const struct ptc_function_head *head)
{
	const uint32_t axis = ptc_names_get(&t->names, head->axis);
	const uint32_t sort = ptc_names_get(&t->names, head->sort);

	if (axis == UINT32_MAX || sort == UINT32_MAX)
		return false;
	t->axis = t->nheads && t->axis != axis ? 0 : axis;
	t->sort = t->nheads && t->sort != sort ? 0 : sort;
	t->nheads++;
	t->timeless |= !head->has_time;
	ptc_sum_add(&t->head.instructions, head->instructions);
	ptc_sum_add(&t->head.threads, head->threads);
	ptc_sum_add(&t->head.gaps, head->gaps);
	ptc_sum_add(&t->head.time, head->time);
	return true;
}

bool ptc_function_table_add(struct ptc_function_table *t, const char *name, const char *file,
			    const char *id, struct ptc_function_row *row)
{
	static const struct ptc_number_kind kind = { sizeof(*row), hash_of_row, is_same_row };
	uint32_t number;

	row->name = ptc_names_get(&t->names, name);
	row->file = ptc_names_get(&t->names, file);
	row->id = ptc_names_get(&t->names, id);
	if (row->name == UINT32_MAX || row->file == UINT32_MAX || row->id == UINT32_MAX)
		return false;
	ptc_sum_add(&t->totals.calls, row->calls);
	ptc_sum_add(&t->totals.open, row->open);
	ptc_sum_add(&t->totals.self, row->axes[PTC_FUNCTION_INSNS].self);
	number = ptc_number_find(&t->index, &kind, t->rows, row);
	if (!number)
		return ptc_number_append(&t->index, &kind, &t->rows, &t->n, &t->cap, row);
	merge_row(&t->names, &t->rows[number - 1], row);
	return true;
}

static uint64_t mean_of(const struct ptc_function_axis *a)
{
	return a->known ? a->durations / a->known : 0;
}

/* What the comparison of two rows needs. */
struct order {
	const struct ptc_names *names;
	unsigned int axis;
	const char *sort;
};

static uint64_t sort_key(const struct order *o, const struct ptc_function_row *r)
{
	const struct ptc_function_axis *a = &r->axes[o->axis];

	if (!strcmp(o->sort, "total"))
		return a->total;
	if (!strcmp(o->sort, "calls"))
		return r->calls;
	if (!strcmp(o->sort, "mean"))
		return mean_of(a);
	if (!strcmp(o->sort, "max"))
		return a->max;
	return strcmp(o->sort, "name") != 0 ? a->self : 0;
}

/* The last argument is a struct order. */
static int by_sort_key(const void *a, const void *b, void *ctx)
{
	const struct ptc_function_row *x = a, *y = b;
	const struct order *o = ctx;
	const uint64_t one = sort_key(o, x), two = sort_key(o, y);
	int r;

	if (one != two)
		return one > two ? -1 : 1;
	r = ptc_names_compare(o->names, x->name, y->name);
	if (!r)
		r = ptc_names_compare(o->names, x->file, y->file);
	if (!r)
		r = ptc_names_compare(o->names, x->id, y->id);
	return r ? r : (x->off > y->off) - (x->off < y->off);
}

static json_t *axis_object(const struct ptc_function_axis *a)
{
	return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:I}", "self", (json_int_t)a->self,
			 "total", (json_int_t)a->total, "known", (json_int_t)a->known, "mean",
			 a->known ? ptc_json_uint(mean_of(a)) : json_null(), "p99",
			 a->has_p99 ? ptc_json_uint(a->p99) : json_null(), "max",
			 a->known ? ptc_json_uint(a->max) : json_null(), "durations",
			 (json_int_t)a->durations);
}

static json_t *row_object(const struct ptc_function_table *t, const struct ptc_function_row *r)
{
	const char *file = ptc_names_of(&t->names, r->file), *id = ptc_names_of(&t->names, r->id);
	const bool timed = !t->timeless && r->axes[PTC_FUNCTION_TIME].there;
	json_t *o = json_pack("{s:s, s:s, s:o, s:o, s:b, s:I, s:I, s:o, s:o}", "type", "function",
			      "name", ptc_names_of(&t->names, r->name), "file",
			      file ? json_string(file) : json_null(), "offset",
			      ptc_json_hex(r->off), "inlined", r->inlined, "calls",
			      (json_int_t)r->calls, "open", (json_int_t)r->open, "insns",
			      axis_object(&r->axes[PTC_FUNCTION_INSNS]), "time",
			      timed ? axis_object(&r->axes[PTC_FUNCTION_TIME]) : json_null());

	if (o && id && json_object_set_new(o, "build_id", json_string(id))) {
		json_decref(o);
		o = NULL;
	}
	return o;
}

bool ptc_function_table_print(struct ptc_function_table *t, struct ptc_line *l)
{
	const char *axis = ptc_names_of(&t->names, t->axis),
		   *sort = ptc_names_of(&t->names, t->sort);
	struct order o = { .names = &t->names, .sort = sort ? sort : "self" };
	bool ok;
	size_t i;

	if (!axis)
		axis = "insns";
	o.axis = !strcmp(axis, "time") ? PTC_FUNCTION_TIME : PTC_FUNCTION_INSNS;
	if (t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), by_sort_key, &o);
	ok = ptc_line_json(
		l, json_pack("{s:s, s:i, s:s, s:s, s:s, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I}",
			     "schema", "ptcap-report", "version", 1, "by", "function", "axis", axis,
			     "sort", o.sort, "instructions", (json_int_t)t->head.instructions,
			     "in_functions", (json_int_t)t->totals.self, "time",
			     t->timeless ? json_null() : ptc_json_uint(t->head.time), "calls",
			     (json_int_t)t->totals.calls, "open", (json_int_t)t->totals.open,
			     "functions", (json_int_t)t->n, "threads", (json_int_t)t->head.threads,
			     "gaps", (json_int_t)t->head.gaps));
	for (i = 0; i < t->n && ok; i++)
		ok = ptc_line_json(l, row_object(t, &t->rows[i]));
	return ok;
}

void ptc_function_table_release(struct ptc_function_table *t)
{
	ptc_names_release(&t->names);
	free(t->rows);
	free(t->index.slots);
}
