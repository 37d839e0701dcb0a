/* SPDX-License-Identifier: MIT */
/* The order of the rows of a report. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/report/report.h"
#include "ptcap/lookup.h"

enum { NAME_ROOM = 512 };

const char *const ptc_report_by_names[PTC_BY_COUNT] = {
	[PTC_BY_NOTHING] = "function",
	[PTC_BY_THREAD] = "thread",
	[PTC_BY_PROCESS] = "process",
	[PTC_BY_FILE] = "file",
};

/* A row with what the comparison needs: qsort passes no context. */
struct sorted_row {
	const struct ptc_function_sum *row;
	const struct ptc_report *report;
	uint64_t key;
};

uint64_t ptc_report_mean(const struct ptc_function_sum *row, unsigned int axis)
{
	return row->known[axis] ? row->sum[axis] / row->known[axis] : 0;
}

const char *ptc_report_name(const struct ptc_report *r, uint32_t function, char *buf, size_t size)
{
	return ptc_call_function_name(&r->stream, function, buf, size);
}

static uint64_t sort_key(const struct ptc_report *r, const struct ptc_function_sum *row)
{
	switch (r->args->sort) {
	case PTC_SORT_SELF:
		return row->self[r->axis];
	case PTC_SORT_TOTAL:
		return row->total[r->axis];
	case PTC_SORT_CALLS:
		return row->calls;
	case PTC_SORT_MEAN:
		return ptc_report_mean(row, r->axis);
	case PTC_SORT_MAX:
		return row->max[r->axis];
	default:
		return 0;
	}
}

/* Compares the printed names, which are made for functions without a symbol. */
static int by_printed_name(const struct sorted_row *x, const struct sorted_row *y)
{
	char one[NAME_ROOM], two[NAME_ROOM];

	return strcmp(ptc_report_name(x->report, x->row->function, one, sizeof(one)),
		      ptc_report_name(y->report, y->row->function, two, sizeof(two)));
}

/* Rows with equal keys are ordered by name and place: by texts, as `ptcap sum` orders them. */
static int by_key_and_name(const void *a, const void *b)
{
	const struct sorted_row *x = a, *y = b;
	const struct ptc_function *f = &x->report->stream.functions[x->row->function];
	const struct ptc_function *g = &y->report->stream.functions[y->row->function];
	int r;

	if (x->row->group != y->row->group)
		return x->row->group < y->row->group ? -1 : 1;
	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	r = by_printed_name(x, y);
	if (!r)
		r = ptc_names_compare(&x->report->stream.names, f->file, g->file);
	if (!r)
		r = ptc_names_compare(&x->report->stream.names, f->id, g->id);
	if (r)
		return r;
	return f->off < g->off ? -1 : f->off > g->off;
}

void ptc_report_choose_axis(struct ptc_report *r)
{
	const bool software = ptc_decode_is_of_software(r->d);
	struct ptc_err err;
	uint64_t first, last;
	const bool known = !ptc_decode_get_times(r->d, &first, &last, &err);

	r->has_time = known && (!software || r->args->axis == PTC_AXIS_TIME);
	r->axis = r->has_time && r->args->axis != PTC_AXIS_INSNS ? PTC_SUMS_TIME : PTC_SUMS_INSNS;
}

/* Sort the rows by group and key. Returns false if out of memory. */
static bool sort_rows(struct ptc_report *r)
{
	const size_t n = r->sums.nrows;
	struct sorted_row *sorted = calloc(n + 1, sizeof(*sorted));
	size_t i;

	r->row = calloc(n + 1, sizeof(const struct ptc_function_sum *));
	if (!sorted || !r->row) {
		free(sorted);
		return false;
	}
	for (i = 0; i < n; i++)
		sorted[i] =
			(struct sorted_row){ &r->sums.rows[i], r, sort_key(r, &r->sums.rows[i]) };
	qsort(sorted, n, sizeof(*sorted), by_key_and_name);
	for (i = 0; i < n; i++)
		r->row[i] = sorted[i].row;
	free(sorted);
	return true;
}

/* Form groups of the sorted rows. Returns false if out of memory. */
static bool form_groups(struct ptc_report *r)
{
	struct ptc_report_group *g = NULL;
	size_t cap = 0, i, a;

	for (i = 0; i < r->sums.nrows; i++) {
		const struct ptc_function_sum *row = r->row[i];

		if (!g || row->group != g->sum.group) {
			if (!ptc_grow(&r->groups, &cap, r->ngroups + 1, sizeof(*g)))
				return false;
			g = &r->groups[r->ngroups++];
			*g = (struct ptc_report_group){ .first = i, .sum.group = row->group };
		}
		g->n++;
		g->sum.calls += row->calls;
		g->sum.open += row->open;
		for (a = 0; a < PTC_SUMS_AXES; a++)
			ptc_sums_add(&g->sum.self[a], row->self[a]);
	}
	return true;
}

static int by_group_key(const void *a, const void *b)
{
	const struct ptc_report_group *x = a, *y = b;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return x->sum.group < y->sum.group ? -1 : x->sum.group > y->sum.group;
}

bool ptc_report_sort_rows(struct ptc_report *r)
{
	size_t i;

	if (!sort_rows(r) || !form_groups(r))
		return false;
	for (i = 0; i < r->ngroups; i++)
		r->groups[i].key = r->groups[i].sum.self[r->axis];
	if (r->ngroups)
		qsort(r->groups, r->ngroups, sizeof(*r->groups), by_group_key);
	return true;
}

void ptc_report_release_rows(struct ptc_report *r)
{
	free(r->row);
	free(r->groups);
	r->row = NULL;
	r->groups = NULL;
	r->ngroups = 0;
}

uint32_t ptc_report_group_of(void *ctx, const struct ptc_call_event *event)
{
	const struct ptc_report *r = ctx;

	switch (r->args->by) {
	case PTC_BY_THREAD:
		return event->thread;
	case PTC_BY_PROCESS:
		return (uint32_t)r->stream.threads[event->thread].pid;
	case PTC_BY_FILE:
		return r->stream.functions[event->function].file;
	default:
		return 0;
	}
}

const struct ptc_call_thread *ptc_report_thread(const struct ptc_report *r, uint32_t number)
{
	return &r->stream.threads[number];
}

size_t ptc_report_shown(const struct ptc_report *r, const struct ptc_report_group *g)
{
	return r->args->top && r->args->top < g->n ? (size_t)r->args->top : g->n;
}
