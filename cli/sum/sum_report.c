/* SPDX-License-Identifier: MIT */
/* Adds the JSON of `ptcap report`, function by function. */
#include <string.h>

#include "base/err.h"
#include "cli/sum/function_table.h"
#include "cli/sum/missing_table.h"
#include "cli/sum/sum.h"
#include "cli/sum/sum_json.h"

struct state {
	struct ptc_function_table table;
	struct ptc_missing_table missing;
	/* Of the current file: what its head promises, and what its lines have. */
	struct ptc_function_totals want, has;
};

static int get_time(const struct ptc_sum_line *l, struct ptc_function_head *h, struct ptc_err *err)
{
	bool known;
	const int rc = ptc_sum_json_known(l, l->json, "time", &h->time, &known, err);

	h->has_time = known;
	return rc;
}

static int add_report_head(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct ptc_function_head h = { .time = 0 };
	const struct {
		const char *key;
		uint64_t *ret;
	} counts[] = {
		{ "instructions", &h.instructions }, { "in_functions", &s->want.self },
		{ "calls", &s->want.calls },	     { "open", &s->want.open },
		{ "threads", &h.threads },	     { "gaps", &h.gaps },
	};
	const char *by;
	size_t i;
	int rc = ptc_sum_json_version(l, err);

	s->has = (struct ptc_function_totals){ .calls = 0 };
	if (!rc)
		rc = ptc_sum_json_text(l, l->json, "by", &by, err);
	if (!rc && strcmp(by, "function") != 0)
		return ptc_sum_fail(err, l, "a report by %s; only reports by function can be added",
				    by);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]) && !rc; i++)
		rc = ptc_sum_json_count(l, l->json, counts[i].key, counts[i].ret, err);
	if (!rc)
		rc = get_time(l, &h, err);
	if (!rc)
		rc = ptc_sum_json_text(l, l->json, "axis", &h.axis, err);
	if (!rc)
		rc = ptc_sum_json_text(l, l->json, "sort", &h.sort, err);
	if (!rc && !ptc_function_table_head(&s->table, &h))
		rc = ptc_fail_mem(err);
	return rc;
}

/* Gets the sums on an axis, which may be null. */
static int get_axis(const struct ptc_sum_line *l, const char *key, struct ptc_function_axis *ret,
		    struct ptc_err *err)
{
	const json_t *o;
	bool any;
	int rc;

	*ret = (struct ptc_function_axis){ .there = !json_is_null(json_object_get(l->json, key)) };
	if (!ret->there)
		return 0;
	rc = ptc_sum_json_object(l, l->json, key, &o, err);
	if (!rc)
		rc = ptc_sum_json_count(l, o, "self", &ret->self, err);
	if (!rc)
		rc = ptc_sum_json_count(l, o, "total", &ret->total, err);
	if (!rc)
		rc = ptc_sum_json_count(l, o, "known", &ret->known, err);
	if (!rc)
		rc = ptc_sum_json_count(l, o, "durations", &ret->durations, err);
	if (!rc)
		rc = ptc_sum_json_known(l, o, "max", &ret->max, &any, err);
	if (!rc)
		rc = ptc_sum_json_known(l, o, "p99", &ret->p99, &ret->has_p99, err);
	return rc;
}

static int add_function(struct state *s, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct ptc_function_row row = { .inlined =
						json_is_true(json_object_get(l->json, "inlined")) };
	const char *name, *file, *id;
	int rc = ptc_sum_json_text(l, l->json, "name", &name, err);

	if (!rc)
		rc = ptc_sum_json_maybe_text(l, l->json, "file", &file, err);
	if (!rc)
		rc = ptc_sum_json_maybe_text(l, l->json, "build_id", &id, err);
	if (!rc)
		rc = ptc_sum_json_hex(l, l->json, "offset", &row.off, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "calls", &row.calls, err);
	if (!rc)
		rc = ptc_sum_json_count(l, l->json, "open", &row.open, err);
	if (!rc)
		rc = get_axis(l, "insns", &row.axes[PTC_FUNCTION_INSNS], err);
	if (!rc)
		rc = get_axis(l, "time", &row.axes[PTC_FUNCTION_TIME], err);
	if (rc)
		return rc;
	ptc_sum_add(&s->has.calls, row.calls);
	ptc_sum_add(&s->has.open, row.open);
	ptc_sum_add(&s->has.self, row.axes[PTC_FUNCTION_INSNS].self);
	return ptc_function_table_add(&s->table, name, file, id, &row) ? 0 : ptc_fail_mem(err);
}

static int add_report_line(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	struct state *s = state;
	const char *type = ptc_sum_json_word(l->json, "type");

	if (l->number == 1)
		return add_report_head(s, l, err);
	if (*ptc_sum_json_word(l->json, "schema"))
		return ptc_sum_fail(err, l, "a second output begins; give each output as a file");
	if (!strcmp(type, "caller") || !strcmp(type, "callee") || !strcmp(type, "slowest"))
		return ptc_sum_fail(err, l,
				    "a report of one function; write all functions (report without "
				    "--function)");
	if (!strcmp(type, "function"))
		return add_function(s, l, err);
	return strcmp(type, "missing") != 0 ? 0 : ptc_missing_table_add(&s->missing, l, err);
}

static int end_report_file(void *state, const struct ptc_sum_line *l, struct ptc_err *err)
{
	const struct state *s = state;

	if (l->number && !memcmp(&s->want, &s->has, sizeof(s->want)))
		return 0;
	return ptc_sum_fail(err, l,
			    "the functions have %llu of %llu calls; write all functions (report "
			    "without --top)",
			    (unsigned long long)s->has.calls, (unsigned long long)s->want.calls);
}

static bool print_report_sum(void *state, const struct ptc_sum_how *how)
{
	struct state *s = state;

	return ptc_function_table_print(&s->table, how->line) &&
	       ptc_missing_table_print(&s->missing, how->line);
}

static void release_report_sum(void *state)
{
	struct state *s = state;

	ptc_function_table_release(&s->table);
	ptc_missing_table_release(&s->missing);
}

const struct ptc_sum_format ptc_sum_report_format = {
	.name = "a report (report --format json)",
	.is_json = true,
	.size = sizeof(struct state),
	.add_line = add_report_line,
	.end_file = end_report_file,
	.print = print_report_sum,
	.release = release_report_sum,
};
