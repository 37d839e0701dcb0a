/* SPDX-License-Identifier: MIT */
/* `ptcap report --format json`: doc/json.md. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "cli/common/jsontext.h"
#include "cli/report/report.h"

enum { NAME_ROOM = 512 };

static const char *const axes[] = { [PTC_SUMS_INSNS] = "insns", [PTC_SUMS_TIME] = "time" };
static const char *const sorts[] = {
	[PTC_SORT_SELF] = "self", [PTC_SORT_TOTAL] = "total", [PTC_SORT_CALLS] = "calls",
	[PTC_SORT_MEAN] = "mean", [PTC_SORT_MAX] = "max",     [PTC_SORT_NAME] = "name",
};

json_t *ptc_report_number(uint64_t n)
{
	return json_integer(n < INT64_MAX ? (json_int_t)n : INT64_MAX);
}

json_t *ptc_report_file(const struct ptc_report *r, uint32_t file)
{
	const char *name = ptc_names_of(&r->stream.names, file);

	return name ? ptc_json_text(name) : json_null();
}

static bool put_report_head(const struct ptc_report *r)
{
	const struct ptc_function_sum *all = &r->sums.all;
	json_t *o = json_pack(
		"{s:s, s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o}", "schema",
		"ptcap-report", "version", 1, "by", ptc_report_by_names[r->args->by], "axis",
		axes[r->axis], "sort", sorts[r->args->sort], "instructions",
		ptc_report_number(r->insns), "in_functions",
		ptc_report_number(all->self[PTC_SUMS_INSNS]), "time",
		r->has_time ? ptc_report_number(all->self[PTC_SUMS_TIME]) : json_null(), "calls",
		ptc_report_number(all->calls), "open", ptc_report_number(all->open), "functions",
		(json_int_t)r->stream.nfunctions, "threads", (json_int_t)r->stream.nthreads, "gaps",
		ptc_report_number(r->sums.gaps));

	return ptc_line_json(r->line, o);
}

/* Returns the sums of a row on one axis. */
static json_t *axis_object(const struct ptc_report *r, const struct ptc_function_sum *row,
			   unsigned int axis)
{
	const bool any = row->known[axis];

	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "self", ptc_report_number(row->self[axis]),
		"total", ptc_report_number(row->total[axis]), "known",
		ptc_report_number(row->known[axis]), "mean",
		any ? ptc_report_number(ptc_report_mean(row, axis)) : json_null(), "p99",
		any ? ptc_report_number(ptc_function_sums_p99(&r->sums, row, axis)) : json_null(),
		"max", any ? ptc_report_number(row->max[axis]) : json_null(), "durations",
		ptc_report_number(row->sum[axis]));
}

bool ptc_report_put_function(const struct ptc_report *r, const struct ptc_function_sum *row,
			     size_t group)
{
	const struct ptc_function *f = &r->stream.functions[row->function];
	char name[NAME_ROOM], off[32];
	json_t *o;

	(void)snprintf(off, sizeof(off), "0x%" PRIx64, f->off);
	o = json_pack("{s:s, s:o, s:o, s:s, s:b, s:o, s:o, s:o, s:o}", "type", "function", "name",
		      ptc_json_text(ptc_report_name(r, row->function, name, sizeof(name))), "file",
		      ptc_report_file(r, f->file), "offset", off, "inlined", f->inlined, "calls",
		      ptc_report_number(row->calls), "open", ptc_report_number(row->open), "insns",
		      axis_object(r, row, PTC_SUMS_INSNS), "time",
		      r->has_time ? axis_object(r, row, PTC_SUMS_TIME) : json_null());
	if (o && f->id &&
	    json_object_set_new(o, "build_id",
				json_string(ptc_names_of(&r->stream.names, f->id)))) {
		json_decref(o);
		o = NULL;
	}
	if (o && group != SIZE_MAX && json_object_set_new(o, "group", ptc_report_number(group))) {
		json_decref(o);
		o = NULL;
	}
	return ptc_line_json(r->line, o);
}

static json_t *self_object(uint64_t self)
{
	return json_pack("{s:o}", "self", ptc_report_number(self));
}

static bool put_group_object(const struct ptc_report *r, const struct ptc_report_group *g,
			     size_t number)
{
	const uint32_t id = g->sum.group;
	json_t *o = json_pack(
		"{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "type", ptc_report_by_names[r->args->by],
		"group", ptc_report_number(number), "functions", ptc_report_number(g->n), "calls",
		ptc_report_number(g->sum.calls), "open", ptc_report_number(g->sum.open), "insns",
		self_object(g->sum.self[PTC_SUMS_INSNS]), "time",
		r->has_time ? self_object(g->sum.self[PTC_SUMS_TIME]) : json_null());
	const struct ptc_call_thread *t;
	int bad = !o;

	if (r->args->by == PTC_BY_THREAD) {
		t = ptc_report_thread(r, id);
		bad |= json_object_set_new(o, "pid", json_integer(t->pid));
		bad |= json_object_set_new(o, "tid", json_integer(t->tid));
		bad |= json_object_set_new(o, "name",
					   *t->name ? ptc_json_text(t->name) : json_null());
	} else if (r->args->by == PTC_BY_PROCESS) {
		bad |= json_object_set_new(o, "pid", json_integer((int32_t)id));
	} else {
		bad |= json_object_set_new(o, "file", ptc_report_file(r, id));
	}
	if (bad) {
		json_decref(o);
		o = NULL;
	}
	return ptc_line_json(r->line, o);
}

/* Print a group, if there are groups, and its functions. Returns false if out of memory. */
static bool put_group_of_functions(const struct ptc_report *r, size_t number)
{
	const struct ptc_report_group *g = &r->groups[number];
	const size_t shown = ptc_report_shown(r, g);
	size_t i;

	if (r->args->by && !put_group_object(r, g, number))
		return false;
	for (i = 0; i < shown; i++)
		if (!ptc_report_put_function(r, r->row[g->first + i],
					     r->args->by ? number : SIZE_MAX))
			return false;
	return true;
}

bool ptc_report_json(const struct ptc_report *r)
{
	size_t i;

	if (!put_report_head(r))
		return false;
	if (r->args->function && !ptc_report_focus_json(r))
		return false;
	for (i = 0; i < r->ngroups && !r->args->function; i++)
		if (!put_group_of_functions(r, i))
			return false;
	if (r->d)
		ptc_print_json_missing(r->d, r->line);
	return true;
}
