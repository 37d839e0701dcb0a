/* SPDX-License-Identifier: MIT */
/* The order of the rows of a report. */
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "decode/session/item_lookup.h"

enum { NAME_ROOM = 512 };

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

/* The order of equal rows does not depend on the order of events. */
static int by_key_and_name(const void *a, const void *b)
{
	const struct sorted_row *x = a, *y = b;
	const struct ptc_function *f = &x->report->stream.functions[x->row->function];
	const struct ptc_function *g = &y->report->stream.functions[y->row->function];
	char one[NAME_ROOM], two[NAME_ROOM];
	int r;

	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	r = strcmp(ptc_report_name(x->report, x->row->function, one, sizeof(one)),
		   ptc_report_name(y->report, y->row->function, two, sizeof(two)));
	if (r)
		return r;
	return f->off != g->off ? (f->off < g->off ? -1 : 1) : f->file > g->file ? 1 : -1;
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

bool ptc_report_sort_rows(struct ptc_report *r)
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

const struct ptc_call_thread *ptc_report_thread(const struct ptc_report *r, uint32_t number)
{
	return &r->stream.threads[number];
}

size_t ptc_report_shown(const struct ptc_report *r)
{
	return r->args->top && r->args->top < r->sums.nrows ? (size_t)r->args->top : r->sums.nrows;
}
