/* SPDX-License-Identifier: MIT */
#include "cli/sum/joined_output.h"

#include <string.h>

#include "base/budget.h"
#include "base/buf.h"
#include "base/err.h"
#include "cli/decode/out_folded.h"
#include "cli/decode/out_pprof.h"
#include "cli/report/report_part.h"
#include "cli/sum/part_item.h"
#include "cli/sum/sum_json.h"
#include "cli/sum/word_counts.h"

struct ptc_joined_kind {
	const char *of;
	int (*on_event)(void *ctx, const struct ptc_call_event *e);
	int (*on_tree)(void *ctx, const struct ptc_joined_tree *tree);
	int (*on_open)(void *ctx, uint32_t thread, uint32_t function, const uint64_t *since);
	int (*on_costs)(void *ctx, const struct ptc_sum_line *l, uint32_t thread, uint64_t before,
			struct ptc_err *err);
	int (*options)(struct ptc_joined_output *o, const json_t *options,
		       const struct ptc_sum_line *l, struct ptc_err *err);
	/* NULL: there are no such lines. */
	int (*line)(struct ptc_joined_output *o, const struct ptc_sum_line *l, struct ptc_err *err);
	bool (*print)(struct ptc_joined_output *o, const struct ptc_sum_how *how,
		      struct ptc_missing_table *missing);
	void (*release)(struct ptc_joined_output *o);
};

/* --- stacks --- */

static int on_tree_event(void *ctx, const struct ptc_call_event *e)
{
	struct ptc_joined_output *o = ctx;

	return ptc_call_tree_event(&o->tree, e);
}

static int on_joined_tree(void *ctx, const struct ptc_joined_tree *tree)
{
	struct ptc_joined_output *o = ctx;

	return ptc_call_tree_join(&o->tree, tree);
}

static int on_open_node(void *ctx, uint32_t thread, uint32_t function, const uint64_t *since)
{
	struct ptc_joined_output *o = ctx;

	(void)since;
	return ptc_call_tree_open(&o->tree, thread, function);
}

static int tree_options(struct ptc_joined_output *o, const json_t *options,
			const struct ptc_sum_line *l, struct ptc_err *err)
{
	uint64_t depth;
	const int rc = ptc_sum_json_count(l, options, "depth", &depth, err);

	if (rc)
		return rc;
	if (!depth || depth > PTC_TREE_DEPTH_MAX)
		return ptc_sum_fail(err, l, "stacks of %llu functions; write the file again",
				    (unsigned long long)depth);
	ptc_call_tree_init(&o->tree, (uint32_t)depth);
	o->by_time = json_is_true(json_object_get(options, "by_time"));
	return 0;
}

static void release_tree(struct ptc_joined_output *o)
{
	ptc_call_tree_release(&o->tree);
}

/* Adds the next stacks up. Returns false if out of memory. */
static bool add_stacks(struct ptc_folding *f, struct ptc_buf *text, struct ptc_word_counts *stacks)
{
	uint64_t value;

	while (ptc_folding_next(f, &value)) {
		ptc_line_char(f->l, '\0');
		ptc_line_flush(f->l);
		if (f->l->failed || !ptc_budget_allows(text->len + 256) ||
		    !ptc_word_counts_add(stacks, (char *)text->bytes,
					 value < PTC_SUM_MAX ? value : PTC_SUM_MAX))
			return false;
		ptc_buf_reset(text);
	}
	return !f->l->failed;
}

/* Different functions can have one name. So the stacks are added and ordered as in other sums. */
static bool print_folded(struct ptc_joined_output *o, const struct ptc_sum_how *how,
			 struct ptc_missing_table *missing)
{
	static struct ptc_line line;
	struct ptc_word_counts stacks = { .n = 0 };
	struct ptc_buf text = PTC_BUF_INIT;
	struct ptc_folding f;
	bool ok;

	(void)missing;
	line = (struct ptc_line){ .into = &text };
	ok = ptc_folding_init(&f, &o->join->stream, &o->tree, o->by_time, &line);
	ok = ok && add_stacks(&f, &text, &stacks) && ptc_sum_folded_format.print(&stacks, how);
	ptc_folding_release(&f);
	ptc_word_counts_release(&stacks);
	ptc_buf_release(&text);
	return ok;
}

static bool print_pprof(struct ptc_joined_output *o, const struct ptc_sum_how *how,
			struct ptc_missing_table *missing)
{
	const struct ptc_function_begins begins = { .v = o->join->begins, .n = o->join->nbegins };

	(void)missing;
	return ptc_pprof_print(&o->join->stream, &o->tree, &begins, o->by_time, how->line);
}

/* --- reports --- */

static int on_sums_event(void *ctx, const struct ptc_call_event *e)
{
	struct ptc_joined_output *o = ctx;

	return ptc_function_sums_event(&o->report.sums, e);
}

static int on_sums_tree(void *ctx, const struct ptc_joined_tree *tree)
{
	struct ptc_joined_output *o = ctx;

	return ptc_function_sums_join(&o->report.sums, tree);
}

static int on_open_sum(void *ctx, uint32_t thread, uint32_t function, const uint64_t *since)
{
	struct ptc_joined_output *o = ctx;

	return ptc_function_sums_open(&o->report.sums, thread, function, since);
}

static int report_options(struct ptc_joined_output *o, const json_t *options,
			  const struct ptc_sum_line *l, struct ptc_err *err)
{
	uint64_t v[PTC_PART_OPTIONS];
	const int rc =
		ptc_part_row_get(l, json_object_get(options, "report"), PTC_PART_OPTIONS, v, err);

	if (rc)
		return rc;
	if (v[PTC_PART_FORMAT] > PTC_REPORT_CSV || v[PTC_PART_SORT] >= PTC_SORT_KEYS ||
	    v[PTC_PART_AXIS] >= PTC_SUMS_AXES)
		return ptc_sum_fail(err, l, "unknown options; use the ptcap that wrote the file");
	o->args.format = (enum ptc_report_format)v[PTC_PART_FORMAT];
	o->args.sort = (enum ptc_report_sort)v[PTC_PART_SORT];
	o->args.top = v[PTC_PART_TOP];
	o->report.args = &o->args;
	o->report.axis = (unsigned int)v[PTC_PART_AXIS];
	o->report.has_time = v[PTC_PART_HAS_TIME];
	o->report.sums.stream = &o->join->stream;
	return 0;
}

/* Takes the durations of a function, on one axis. */
static int report_line(struct ptc_joined_output *o, const struct ptc_sum_line *l,
		       struct ptc_err *err)
{
	enum { AXIS, KNOWN, SUM, MAX, N };
	const json_t *row = json_object_get(l->json, "histogram");
	uint64_t v[N], bucket[2], set;
	uint32_t function;
	size_t i;
	int rc = ptc_part_join_function(o->join, l, &function, err);

	if (!rc)
		rc = ptc_part_row_get(l, json_object_get(l->json, "known"), N, v, err);
	if (rc)
		return rc;
	if (v[AXIS] >= PTC_SUMS_AXES)
		return ptc_sum_fail(err, l, "an unknown axis; use the ptcap that wrote the file");
	set = ptc_function_sums_known(&o->report.sums, function, (unsigned int)v[AXIS], v[KNOWN],
				      v[SUM], v[MAX]);
	for (i = 0; set != UINT64_MAX && i + 1 < json_array_size(row); i += 2) {
		bucket[0] = (uint64_t)json_integer_value(json_array_get(row, i));
		bucket[1] = (uint64_t)json_integer_value(json_array_get(row, i + 1));
		if (bucket[0] >= PTC_DURATIONS_BUCKETS)
			return ptc_sum_fail(err, l,
					    "an unknown duration; the file is damaged, "
					    "write it again");
		if (!ptc_durations_add_bucket(&o->report.sums.durations, set, bucket[0], bucket[1]))
			set = UINT64_MAX;
	}
	return set == UINT64_MAX ? ptc_fail_mem(err) : 0;
}

static bool print_report(struct ptc_joined_output *o, const struct ptc_sum_how *how,
			 struct ptc_missing_table *missing)
{
	struct ptc_report *r = &o->report;
	bool ok;

	ptc_function_sums_finish(&r->sums);
	r->stream = o->join->stream;
	r->insns = o->join->insns;
	r->width = how->width;
	r->line = how->line;
	ok = ptc_report_sort_rows(r);
	if (!ok)
		return false;
	if (o->args.format == PTC_REPORT_CSV)
		return ptc_report_csv(r);
	if (o->args.format == PTC_REPORT_TEXT)
		return ptc_report_text(r);
	return ptc_report_json(r) && ptc_missing_table_print(missing, how->line);
}

static void release_report(struct ptc_joined_output *o)
{
	ptc_report_release_rows(&o->report);
	ptc_function_sums_release(&o->report.sums);
}

/* --- callgrind --- */

static int on_costs_event(void *ctx, const struct ptc_call_event *e)
{
	struct ptc_joined_output *o = ctx;

	return ptc_joined_costs_event(&o->costs, e);
}

static int on_costs_step(void *ctx, const struct ptc_sum_line *l, uint32_t thread, uint64_t before,
			 struct ptc_err *err)
{
	struct ptc_joined_output *o = ctx;

	return ptc_joined_costs_step(&o->costs, l, thread, before, err);
}

static int costs_options(struct ptc_joined_output *o, const json_t *options,
			 const struct ptc_sum_line *l, struct ptc_err *err)
{
	return ptc_joined_costs_init(&o->costs, o->join, options, l, err);
}

static int costs_line(struct ptc_joined_output *o, const struct ptc_sum_line *l,
		      struct ptc_err *err)
{
	return ptc_joined_costs_line(&o->costs, l, err);
}

static bool print_costs(struct ptc_joined_output *o, const struct ptc_sum_how *how,
			struct ptc_missing_table *missing)
{
	(void)missing;
	return ptc_joined_costs_print(&o->costs, how->line);
}

static void release_costs(struct ptc_joined_output *o)
{
	ptc_joined_costs_release(&o->costs);
}

static const struct ptc_joined_kind kinds[] = {
	{ .of = "callgrind",
	  .on_event = on_costs_event,
	  .on_costs = on_costs_step,
	  .options = costs_options,
	  .line = costs_line,
	  .print = print_costs,
	  .release = release_costs },
	{ .of = "report",
	  .on_event = on_sums_event,
	  .on_tree = on_sums_tree,
	  .on_open = on_open_sum,
	  .options = report_options,
	  .line = report_line,
	  .print = print_report,
	  .release = release_report },
	{ .of = "pprof",
	  .on_event = on_tree_event,
	  .on_tree = on_joined_tree,
	  .on_open = on_open_node,
	  .options = tree_options,
	  .print = print_pprof,
	  .release = release_tree },
	{ .of = "folded",
	  .on_event = on_tree_event,
	  .on_tree = on_joined_tree,
	  .on_open = on_open_node,
	  .options = tree_options,
	  .print = print_folded,
	  .release = release_tree },
};

/* --- all kinds --- */

int ptc_joined_output_init(struct ptc_joined_output *o, const char *of, const json_t *options,
			   struct ptc_part_join *join, struct ptc_join_sink *ret_sink,
			   const struct ptc_sum_line *l, struct ptc_err *err)
{
	const struct ptc_joined_kind *kind = NULL;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(of, kinds[i].of))
			kind = &kinds[i];
	if (!kind)
		return ptc_sum_fail(err, l,
				    "a shard of an unknown output; use the ptcap that wrote the "
				    "file");
	*o = (struct ptc_joined_output){ .join = join };
	rc = kind->options(o, options, l, err);
	if (rc)
		return rc;
	o->kind = kind;
	*ret_sink = (struct ptc_join_sink){ .on_event = kind->on_event,
					    .on_tree = kind->on_tree,
					    .on_open = kind->on_open,
					    .on_costs = kind->on_costs,
					    .ctx = o };
	return 0;
}

int ptc_joined_output_line(struct ptc_joined_output *o, const struct ptc_sum_line *l,
			   struct ptc_err *err)
{
	return o->kind->line ? o->kind->line(o, l, err) : 0;
}

bool ptc_joined_output_print(struct ptc_joined_output *o, const struct ptc_sum_how *how,
			     struct ptc_missing_table *missing)
{
	return o->kind->print(o, how, missing);
}

void ptc_joined_output_release(struct ptc_joined_output *o)
{
	if (o->kind)
		o->kind->release(o);
}
