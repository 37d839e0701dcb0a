/* SPDX-License-Identifier: MIT */
#include "cli/report/report_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/common/jsontext.h"

/* Returns the durations of the function. NULL: out of memory. */
static struct ptc_known_durations *durations_of(struct ptc_report_part *p, uint32_t function)
{
	const size_t n = p->n;

	if (function < n)
		return &p->functions[function];
	if (!ptc_grow(&p->functions, &p->cap, (size_t)function + 1, sizeof(*p->functions)))
		return NULL;
	p->n = (size_t)function + 1;
	memset(p->functions + n, 0, (p->n - n) * sizeof(*p->functions));
	return &p->functions[function];
}

/* A call ended that began in the part. */
static bool on_known_call(void *ctx, uint32_t function, const uint64_t *since,
			  const uint64_t *until)
{
	struct ptc_report_part *p = ctx;
	struct ptc_known_durations *d = durations_of(p, function);
	bool ok = d;
	unsigned int a;

	for (a = 0; ok && a < PTC_SUMS_AXES; a++) {
		const uint64_t took = until[a] > since[a] ? until[a] - since[a] : 0;

		if (since[a] == PTC_NO_TIME || until[a] == PTC_NO_TIME)
			continue;
		d->known[a]++;
		ptc_sums_add(&d->sum[a], took);
		if (took > d->max[a])
			d->max[a] = took;
		ok = ptc_durations_add(&p->durations, (uint64_t)function * PTC_SUMS_AXES + a, took);
	}
	return ok;
}

bool ptc_report_part_begin(struct ptc_report_part *p, const struct ptc_report *r)
{
	p->out = (struct ptc_part_out){ .line = r->line,
					.shard = r->args->shard,
					.of = "report",
					.on_end = on_known_call,
					.ctx = p };
	return ptc_part_out_begin(&p->out, r->d,
				  json_pack("{s:[i,i,I,i,i]}", "report", (int)r->args->format,
					    (int)r->args->sort, (json_int_t)r->args->top,
					    (int)r->axis, (int)r->has_time));
}

int ptc_report_part_items(void *ctx, const struct ptc_item *items, size_t n)
{
	struct ptc_report_part *p = ctx;

	/* The items in front of the shard are of another one. */
	for (; n && items->flags & PTC_ITEM_BEFORE; n--)
		items++;
	return n ? ptc_part_out_items(&p->out, items, n) : 0;
}

/* Returns [bucket, times, bucket, times ...]. NULL: out of memory. */
static json_t *histogram_row(const struct ptc_durations *d, uint64_t set)
{
	json_t *row = json_array();
	uint64_t bucket, times;
	size_t at = 0;
	int bad = !row;

	while (!bad && ptc_durations_bucket(d, set, &at, &bucket, &times)) {
		bad = json_array_append_new(row, json_integer((json_int_t)bucket));
		bad |= json_array_append_new(row, json_integer((json_int_t)times));
	}
	if (!bad)
		return row;
	json_decref(row);
	return NULL;
}

static bool put_durations(struct ptc_report_part *p, uint32_t function)
{
	const struct ptc_known_durations *d = &p->functions[function];
	bool ok = true;
	unsigned int a;

	for (a = 0; ok && a < PTC_SUMS_AXES; a++)
		if (d->known[a])
			ok = ptc_part_out_line(
				&p->out,
				json_pack("{s:s, s:I, s:[i,I,o,o], s:o}", "type", "durations",
					  "function", (json_int_t)function, "known", (int)a,
					  (json_int_t)d->known[a], ptc_report_number(d->sum[a]),
					  ptc_report_number(d->max[a]), "histogram",
					  histogram_row(&p->durations,
							(uint64_t)function * PTC_SUMS_AXES + a)));
	return ok;
}

bool ptc_report_part_end(struct ptc_report_part *p)
{
	bool ok = ptc_part_out_steps(&p->out);
	size_t i;

	ptc_durations_sort(&p->durations);
	for (i = 0; ok && i < p->n; i++)
		ok = put_durations(p, (uint32_t)i);
	if (ok)
		ptc_print_json_missing(p->out.stream.opts.d, p->out.line);
	return ok && ptc_part_out_end(&p->out);
}

void ptc_report_part_release(struct ptc_report_part *p)
{
	ptc_part_out_release(&p->out);
	free(p->functions);
	ptc_durations_release(&p->durations);
}
